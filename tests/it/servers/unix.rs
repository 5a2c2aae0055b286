//! The file of a unix socket goes, and comes again.

use sockio::{ErrorKind, MemcachedClient};

use super::load::{BACK_OFF, builder, under_load};
use crate::support::RealServer;
use crate::support::wait::{MARGIN, alone, lost, ms};

#[test]
fn a_socket_removed_and_made_anew_is_found_again() {
    alone(|| {
        const THREADS: usize = 4;
        let mut server = RealServer::start_unix(&[]);
        let other = RealServer::start(&[]);
        let pool = builder([server.addr(), other.addr()])
            .initial_conn(THREADS)
            .max_open(THREADS);
        let client = MemcachedClient::new(pool.build().unwrap());
        let path = server.addr().strip_prefix("unix:").unwrap().to_owned();
        under_load(&client, THREADS, |load| {
            load.warm();
            // The name is gone, the connections are not.
            std::fs::remove_file(&path).unwrap();
            load.good_again(0);
            std::thread::sleep(ms(100));
            let unlinked = load.of(0);
            assert!(unlinked.errors.is_empty(), "{unlinked}");

            for file_stays in [true, false] {
                if file_stays {
                    server.restart();
                    load.good_again(0);
                }
                server.kill();
                if !file_stays {
                    std::fs::remove_file(&path).unwrap();
                }
                std::thread::sleep(ms(200));
                server.restart();
                let back = load.good_again(0);
                println!("the file stays: {file_stays}; good again after {back:.1?}");
                assert!(back <= BACK_OFF + MARGIN + lost(back), "{back:?}");
            }
            let figures = load.of(0);
            println!(
                "unix: {figures}; the other server: {}",
                load.others_are_unaffected(0)
            );
            assert_eq!(figures.stalled, 0, "{figures}");
            let unexpected = figures.errors_beside(&[
                ErrorKind::Connect,
                ErrorKind::Connection,
                ErrorKind::Ambiguous,
                ErrorKind::NoServer,
            ]);
            assert!(unexpected.is_empty(), "{figures}");
        });
    });
}
