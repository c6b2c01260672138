//! `regraft completions` and `regraft man`: what shells and `man` are told of the commands.

use std::path::Path;

use clap_complete::Shell;

use super::Tool;
use super::output::{Failed, Outcome, print};

pub(super) fn run(shell: Shell, tool: &Tool) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut tool.parser(), tool.name(), &mut script);
    print(&String::from_utf8_lossy(&script))
}

pub(super) fn man(folder: Option<&Path>, tool: &Tool) -> Outcome {
    match folder {
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(tool.parser())
                .render(&mut page)
                .map_err(|error| Failed::unwritten(&error))?;
            print(&String::from_utf8_lossy(&page))
        }
        Some(folder) => std::fs::create_dir_all(folder)
            .and_then(|()| clap_mangen::generate_to(tool.parser(), folder))
            .map_err(|error| {
                Failed::message(format!("cannot write into {}: {error}", folder.display()))
            }),
    }
}
