//! Statistics, whose answers differ in form.

use sockio::ErrorKind;

use super::{SERVE, client, is_dead, single, text};
use crate::support::fake::{Act, Fake};

/// stat-02 (pinterest/pymemcache#146): only lines that begin with STAT were known.
#[test]
fn every_form_of_statistics_is_read_to_its_end() {
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let answers = [
        (
            "cachedump 1 0",
            "ITEM k [1 b; 0 s]\r\nEND\r\n",
            vec![pair("k", "[1 b; 0 s]")],
        ),
        ("reset", "RESET\r\n", vec![]),
        ("detail on", "OK\r\n", vec![]),
        (
            "items",
            "STAT items:1:number 1\r\nEND\r\n",
            vec![pair("items:1:number", "1")],
        ),
    ];
    let mut script = Vec::new();
    for (_, reply, _) in &answers {
        script.extend([Act::Request, Act::Send((*reply).into())]);
    }
    script.extend([Act::Request, Act::Send(b"ERROR\r\n".to_vec()), SERVE]);
    let fake = Fake::new(vec![script, vec![SERVE]]);
    let client = client(single(&fake));
    for (argument, _, expected) in answers {
        let stats = client.stats(Some(argument)).unwrap().remove(0).1;
        assert_eq!(stats.unwrap(), expected, "{argument}");
    }
    assert_eq!(fake.connections(), 1);
    let error = client
        .stats(Some("bogus"))
        .unwrap()
        .remove(0)
        .1
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Client);
    assert_eq!(text(&client, "next").as_deref(), Some("next"));
    assert!(!is_dead(&client));
}
