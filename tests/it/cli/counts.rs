//! `sockio balance` and `sockio moves`.

use std::fs;
use std::path::Path;

use sockio::Compat;

use super::{printed, refused};

#[test]
fn balance_counts_as_the_router_does() {
    let picture = Path::new(env!("CARGO_TARGET_TMPDIR")).join("balance.svg");
    let (servers, weights) = ("a:1,b:2,c:3", "2,1,3");
    let options = ["--servers", servers, "--weights", weights, "--keys", "5000"];
    let format = ["--format", "user:{}", "--svg", picture.to_str().unwrap()];
    let args = [
        &["balance", "--compat", "whalin/consistent"],
        &options[..],
        &format,
    ]
    .concat();
    let table = printed(&args, b"");

    let servers = ["a:1:2", "b:2:1", "c:3:3"].map(|it| it.parse().unwrap());
    let compat: Compat = "whalin/consistent".parse().unwrap();
    let router = compat.router(servers.to_vec()).unwrap();
    let mut counts = [0; 3];
    for number in 0..5000 {
        counts[router.first(format!("user:{number}").as_bytes(), None)] += 1;
    }
    let rows: Vec<Vec<&str>> = table
        .lines()
        .map(|it| it.split_whitespace().collect())
        .collect();
    assert_eq!(rows.len(), 4, "{table}");
    for ((row, count), name) in rows[1..].iter().zip(counts).zip(["a:1", "b:2", "c:3"]) {
        let share = format!("{:.2}", f64::from(count) / 50.0);
        assert_eq!(row[..3], [name, &count.to_string(), &share], "{table}");
    }
    assert_eq!(
        [rows[1][4], rows[2][4], rows[3][4]],
        ["33.33", "16.67", "50.00"]
    );
    let svg = fs::read_to_string(&picture).unwrap();
    assert!(
        svg.contains(&format!(", {} keys</text>", counts[2])),
        "{svg}"
    );

    let (errors, _) = refused(&[&args[..], &["--svg", "/no/such/folder/x"]].concat(), b"");
    assert!(errors.contains("--svg"), "{errors}");
    let nowhere = [&args[..9], &["--svg", "/no/such/folder/x"]].concat();
    let (errors, out) = refused(&nowhere, b"");
    assert!(errors.contains("/no/such/folder/x: ") && out.is_empty());
    for format in ["user", "u ser{}"] {
        let (errors, _) = refused(&[&args[..9], &["--format", format]].concat(), b"");
        assert!(errors.contains("--format"), "{errors}");
    }
}

#[test]
fn moves_counts_as_two_routers_do() {
    let (from, to) = (["a:1:1", "b:2:1"], ["a:1:1", "b:2:1", "c:3:2"]);
    let compat: Compat = "libmemcached/ketama-weighted".parse().unwrap();
    let routers = [&from[..], &to].map(|servers| {
        let servers = servers.iter().map(|it| it.parse().unwrap());
        compat.router(servers.collect()).unwrap()
    });
    let moved = (0..4000)
        .filter(|number| {
            let key = format!("key_{number}");
            let [from, to] = routers.each_ref().map(|it| it.first(key.as_bytes(), None));
            from != to
        })
        .count();
    let options = [
        "--from",
        "a:1,b:2",
        "--from-weights",
        "1,1",
        "--keys",
        "4000",
    ];
    let target = ["--to", "a:1,b:2,c:3", "--to-weights", "1,1,2"];
    let args = [&["moves", "--compat", compat.name()], &options[..], &target].concat();
    let report = printed(&args, b"");
    let head = format!(
        "{moved} of 4000 keys change server: {:.2} %\nshared exactly by weight, it would be at least 50.00 %\n",
        moved as f64 / 40.0
    );
    assert!(report.starts_with(&head), "{report}");

    // The same client, the same servers: nothing moves. Another client: most keys do.
    let stay = ["--from", "a:1,b:2", "--to", "a:1,b:2", "--keys", "1000"];
    let moves = |compat: &str, to: &str| {
        let args = [&["moves", "--compat", compat, "--to-compat", to], &stay[..]].concat();
        printed(&args, b"")
    };
    assert!(moves("whalin/native", "whalin/native").starts_with("0 of 1000 keys"));
    assert!(moves("whalin/new-compat", "python-memcached/default").starts_with("0 of 1000 keys"));
    assert!(!moves("whalin/native", "whalin/new-compat").starts_with("0 of"));
    let forms = [
        "--compat",
        "whalin/native",
        "--to-compat",
        "whalin/native+sanitize",
    ];
    let (errors, _) = refused(&[&["moves"], &forms[..], &stay].concat(), b"");
    assert!(errors.contains("in different forms"), "{errors}");
}
