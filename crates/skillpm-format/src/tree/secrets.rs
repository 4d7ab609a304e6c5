//! Files that usually hold secrets, by name: a person who publishes one rarely means to.

/// Names of files, in lower case.
const NAMES: &[&str] = &[
    ".dockercfg",
    ".env",
    ".envrc",
    ".git-credentials",
    ".htpasswd",
    ".netrc",
    ".npmrc",
    ".pgpass",
    ".pypirc",
    "_netrc",
    "credentials.json",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_rsa",
];

/// Ends of the names of files, in lower case.
const ENDINGS: &[&str] = &[".jks", ".keystore", ".p12", ".pem", ".pfx", ".ppk"];

/// The start of the names of files with the environment of a program.
const ENVIRONMENT: &str = ".env.";

/// Ends of the names of examples of such files, which have no secrets.
const EXAMPLES: &[&str] = &[".dist", ".example", ".sample", ".template"];

/// Reports whether the file at `path` has a name that is usual for secrets. Its content does not matter.
pub fn is_secret(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let ends = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
    let is_environment = name.starts_with(ENVIRONMENT) && !ends(EXAMPLES);
    NAMES.contains(&name.as_str()) || is_environment || ends(ENDINGS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets() {
        for path in
            [".env", "scripts/.env.local", "a/Credentials.json", "keys/server.PEM", "id_rsa", ".npmrc"]
        {
            assert!(is_secret(path), "{path}");
        }
        for path in [
            "SKILL.md",
            ".env.example",
            "env",
            "a.env.md",
            "id_rsa.pub",
            "my-credentials.json",
            ".env/a.txt",
            "pem",
        ] {
            assert!(!is_secret(path), "{path}");
        }
    }
}
