//! What a bench found: printed as it comes, and put into the README where the like of it stands. It measures nothing.

use std::fs;
use std::io;
use std::path::PathBuf;

use crate::table::Table;

/// Text by the name of its block. In the README `<!-- BENCH BLOCK -->` stands before each, and `<!-- BENCH end -->` behind it.
#[derive(Debug)]
pub(crate) struct Report {
    bench: &'static str,
    /// Those that the README has; the others are for the terminal.
    in_readme: &'static [&'static str],
    blocks: Vec<(&'static str, String)>,
}

impl Report {
    pub(crate) fn new(bench: &'static str, in_readme: &'static [&'static str]) -> Self {
        let blocks = Vec::new();
        Self {
            bench,
            in_readme,
            blocks,
        }
    }

    pub(crate) fn text(&mut self, block: &'static str, text: String) {
        println!("{text}\n");
        self.blocks.push((block, text));
    }

    /// The caption is for the terminal: the README has its own words.
    pub(crate) fn table(&mut self, block: &'static str, caption: &str, table: &Table) {
        println!("{caption}\n\n{}\n", table.padded());
        self.blocks.push((block, table.compact()));
    }

    /// Fails before all the work, if the README has no place for what comes of it.
    pub(crate) fn check_readme(&self) -> io::Result<()> {
        let text = fs::read_to_string(readme())?;
        self.in_readme
            .iter()
            .try_for_each(|block| self.place(&text, block).map(drop))
    }

    pub(crate) fn write_readme(&self) -> io::Result<()> {
        let mut text = fs::read_to_string(readme())?;
        for block in self.in_readme {
            let found = self.blocks.iter().find(|(name, _)| name == block);
            let (_, new) = found.ok_or_else(|| io::Error::other(format!("nothing for {block}")))?;
            let (from, to) = self.place(&text, block)?;
            text.replace_range(from..to, &format!("\n{new}\n"));
        }
        fs::write(readme(), text)
    }

    /// From the end of the block's mark to the next end mark.
    fn place(&self, text: &str, block: &str) -> io::Result<(usize, usize)> {
        let mark = format!("<!-- {} {block} -->", self.bench);
        let end = format!("<!-- {} end -->", self.bench);
        let from = text.find(&mark).map(|at| at + mark.len());
        let place = from.and_then(|from| Some((from, from + text[from..].find(&end)?)));
        place.ok_or_else(|| {
            io::Error::other(format!("the README has no {mark} with {end} behind it"))
        })
    }
}

fn readme() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md"))
}
