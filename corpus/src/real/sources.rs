//! Source packages of Debian, fetched with a configuration of apt of our own: that of the machine stays as it is.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

/// What is asked for in place of the machine's own packages.
const LIST: &str = "sources.list";
const PARTS: &str = "sources.list.d";

/// A place where source packages are kept.
pub struct Sources {
    place: PathBuf,
}

impl Sources {
    /// Opens a directory, and asks the mirrors of the machine what they have if nobody has done that there.
    pub fn open(place: &Path) -> Result<Self> {
        let place = std::path::absolute(place).context("there is no current directory")?;
        let sources = Sources { place };
        if !sources.place.join("ready").exists() {
            sources.configure(Path::new("/etc/apt"))?;
            sources.run(sources.apt().arg("update"))?;
            fs::write(sources.place.join("ready"), "").context("the list of sources cannot be kept")?;
        }
        Ok(sources)
    }

    /// The description (`.dsc`) of a source package, with all that belongs to it beside it.
    pub fn fetch(&self, package: &str, version: &str) -> Result<PathBuf> {
        let packages = self.place.join("packages");
        let mut command = self.apt();
        command.args(["source", "--download-only", "--only-source"]).arg(format!("{package}={version}"));
        self.run(command.current_dir(&packages))
            .with_context(|| format!("the mirror does not give {package} {version}"))?;
        // An epoch is not part of the name.
        let version = version.split_once(':').map_or(version, |(_, rest)| rest);
        let description = packages.join(format!("{package}_{version}.dsc"));
        ensure!(description.exists(), "apt-get has not brought {}", description.display());
        Ok(description)
    }

    fn configure(&self, apt: &Path) -> Result<()> {
        for directory in ["state/lists/partial", "cache/archives/partial", "packages", PARTS] {
            fs::create_dir_all(self.place.join(directory))
                .with_context(|| format!("{} cannot be made", self.place.display()))?;
        }
        fs::write(self.place.join("apt.conf"), self.configuration())?;
        fs::write(
            self.place.join(LIST),
            source_list(&fs::read_to_string(apt.join(LIST)).unwrap_or_default()),
        )?;
        for entry in fs::read_dir(apt.join(PARTS)).into_iter().flatten() {
            let path = entry?.path();
            let (Some(name), Ok(text)) = (path.file_name(), fs::read_to_string(&path)) else { continue };
            let ours = self.place.join(PARTS).join(name);
            match path.extension().and_then(|extension| extension.to_str()) {
                Some("list") => fs::write(ours, source_list(&text))?,
                Some("sources") => fs::write(ours, source_stanzas(&text))?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Where apt keeps its things. What the machine does after an update is not for us.
    fn configuration(&self) -> String {
        let place = self.place.display();
        format!(
            "Dir::State \"{place}/state\";\nDir::State::status \"/var/lib/dpkg/status\";\n\
             Dir::Cache \"{place}/cache\";\nDir::Etc::sourcelist \"{place}/{LIST}\";\n\
             Dir::Etc::sourceparts \"{place}/{PARTS}\";\nAPT::Sandbox::User \"root\";\n\
             #clear APT::Update::Post-Invoke;\n#clear APT::Update::Post-Invoke-Success;\n"
        )
    }

    fn apt(&self) -> Command {
        let mut command = Command::new("apt-get");
        command.env("APT_CONFIG", self.place.join("apt.conf")).arg("--quiet=2");
        command
    }

    fn run(&self, command: &mut Command) -> Result<()> {
        let output = command.stdin(Stdio::null()).output().context("apt-get cannot be run")?;
        if !output.status.success() {
            bail!("apt-get fails: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(())
    }
}

/// The same places with their sources in place of their packages, line by line.
fn source_list(text: &str) -> String {
    let ours = text.lines().filter_map(|line| line.trim_start().strip_prefix("deb "));
    ours.map(|rest| format!("deb-src {rest}\n")).collect()
}

/// The same of the form with fields.
fn source_stanzas(text: &str) -> String {
    text.lines()
        .map(|line| if is_types(line) { "Types: deb-src\n".to_owned() } else { format!("{line}\n") })
        .collect()
}

fn is_types(line: &str) -> bool {
    line.split_once(':').is_some_and(|(field, _)| field.eq_ignore_ascii_case("types"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_become_sources_and_nothing_else_changes() {
        let list = "# deb x\ndeb [signed-by=/k] http://mirror.example/debian stable main\ndeb-src http://other.example/ stable main\n";
        assert_eq!(source_list(list), "deb-src [signed-by=/k] http://mirror.example/debian stable main\n");
        let stanza = "Types: deb deb-src\nURIs: http://mirror.example/debian\n\nTypes: deb\nURIs: http://other.example/\n";
        assert_eq!(
            source_stanzas(stanza),
            "Types: deb-src\nURIs: http://mirror.example/debian\n\nTypes: deb-src\nURIs: http://other.example/\n"
        );
    }

    #[test]
    fn a_configuration_is_made_of_the_places_that_the_machine_knows() {
        let place = tempfile::tempdir().unwrap();
        let apt = place.path().join("etc");
        fs::create_dir_all(apt.join(PARTS)).unwrap();
        fs::write(apt.join(PARTS).join("one.sources"), "Types: deb\nURIs: http://mirror.example\n").unwrap();
        fs::write(apt.join(PARTS).join("two.disabled"), "Types: deb\n").unwrap();
        let sources = Sources { place: place.path().join("ours") };
        sources.configure(&apt).unwrap();
        let parts = sources.place.join(PARTS);
        let text = fs::read_to_string(parts.join("one.sources")).unwrap();
        assert_eq!(text, "Types: deb-src\nURIs: http://mirror.example\n");
        assert!(!parts.join("two.disabled").exists());
        assert_eq!(fs::read_to_string(sources.place.join(LIST)).unwrap(), "");
    }
}
