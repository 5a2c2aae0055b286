//! The options that name servers and a client, and the router that they make. It does not know what is asked of it.

use clap::Args;
use sockio::router::Router;
use sockio::{Compat, ServerAddr};

use crate::failure::{Failure, Result};

/// The client and its servers.
#[derive(Debug, Args)]
pub(crate) struct Place {
    #[command(flatten)]
    pub(crate) client: Client,

    /// The servers, in the order of the client's configuration: host:port or host:port:weight, separated by commas.
    ///
    /// Rings hash the text as it stands here, so write each server as the client's configuration does.
    #[arg(long, value_name = "LIST", value_delimiter = ',', required = true)]
    pub(crate) servers: Vec<ServerAddr>,

    /// The weight of each server, separated by commas. Leave it out if the client is given none: to some that is not the same as 1.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) weights: Vec<u32>,
}

/// The client.
#[derive(Debug, Args)]
pub(crate) struct Client {
    /// Whose way it is: one of the names that `sockio compat` lists.
    #[arg(long, value_name = "NAME")]
    pub(crate) compat: Compat,
}

impl Place {
    pub(crate) fn router(&self) -> Result<Router> {
        router(self.client.compat, &self.servers, &self.weights)
    }
}

/// The router of a client over servers, with `weights` if there are any.
pub(crate) fn router(compat: Compat, servers: &[ServerAddr], weights: &[u32]) -> Result<Router> {
    Ok(compat.router(weighted(servers, weights)?)?)
}

fn weighted(servers: &[ServerAddr], weights: &[u32]) -> Result<Vec<ServerAddr>> {
    if weights.is_empty() {
        return Ok(servers.to_vec());
    }
    if weights.len() != servers.len() {
        return Err(Failure::new(format!(
            "{} servers, but {} weights: give each server one",
            servers.len(),
            weights.len()
        )));
    }
    if let Some(twice) = servers.iter().find(|server| server.weight().is_some()) {
        return Err(Failure::new(format!(
            "the server {twice} has a weight behind its port and one in the list of weights: give it one of them"
        )));
    }
    let pairs = servers.iter().cloned().zip(weights);
    Ok(pairs
        .map(|(server, weight)| server.with_weight(*weight))
        .collect())
}

/// What a key's hash leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// The number that decides: the key's hash, or the winning bid where servers bid for the key.
    pub(crate) number: i64,
    pub(crate) slot: usize,
    pub(crate) server: usize,
}

/// Looks up the part of a wire key that is hashed.
pub(crate) fn find(router: &Router, hashed: &[u8]) -> Found {
    let placement = router.placement();
    let hash = router.hash(hashed);
    let slot = placement.slot(hashed, hash);
    Found {
        number: placement.score(hashed, slot).map_or(hash, i64::from),
        slot,
        server: placement.server(slot),
    }
}

/// Each server's part of the keys if they were spread exactly by weight, from 0 to 1.
pub(crate) fn shares(servers: &[ServerAddr]) -> Vec<f64> {
    let weights = servers
        .iter()
        .map(|server| f64::from(server.weight().unwrap_or(1)));
    let total: f64 = weights.clone().sum();
    weights.map(|weight| weight / total).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn servers(names: &[&str]) -> Vec<ServerAddr> {
        names.iter().map(|name| name.parse().unwrap()).collect()
    }

    #[test]
    fn weights_are_one_for_each_server_or_none() {
        let two = servers(&["a:1", "b:2"]);
        assert_eq!(weighted(&two, &[]).unwrap(), two);
        assert_eq!(
            weighted(&two, &[5, 3]).unwrap(),
            servers(&["a:1:5", "b:2:3"])
        );
        assert!(weighted(&two, &[5]).is_err());
        assert!(weighted(&servers(&["a:1:5"]), &[5]).is_err());
        assert_eq!(weighted(&servers(&["a:1:5"]), &[]).unwrap().len(), 1);
    }

    #[test]
    fn a_server_without_a_weight_weighs_one() {
        assert_eq!(shares(&servers(&["a:1", "b:2:3"])), [0.25, 0.75]);
    }

    #[test]
    fn the_highest_bid_is_the_number_that_decides() {
        let compat: Compat = "pymemcache/default".parse().unwrap();
        let router = compat.router(servers(&["a:1", "b:2"])).unwrap();
        let found = find(&router, b"key");
        let bids = [0, 1].map(|slot| router.placement().score(b"key", slot).unwrap());
        assert_eq!(found.number, i64::from(bids[0].max(bids[1])));
        assert_eq!(found.number, i64::from(bids[found.server]));
    }
}
