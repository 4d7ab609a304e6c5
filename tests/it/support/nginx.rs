//! A real web server.

use std::io;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::program;

/// A web server for the files of a directory. It stops when it is dropped.
pub struct Nginx {
    process: Child,
    dir: tempfile::TempDir,
    /// The port without TLS.
    pub port: u16,
    /// The port on which it speaks TLS.
    secure: u16,
}

impl Nginx {
    /// Starts the server; `None` where it is not on this machine. What lies below `private/` needs the
    /// name `ada` and the password `s3cret`.
    pub fn start() -> Option<Self> {
        Self::with(&tempfile::tempdir, "")
    }

    /// Starts a server that speaks TLS too, with HTTP/2, and takes files below `up/`; `None` where it or OpenSSL is not
    /// on this machine.
    pub fn start_secure() -> Option<Self> {
        let openssl = program("openssl")?;
        let made = || {
            let dir = tempfile::tempdir()?;
            certify(&openssl, dir.path());
            Ok(dir)
        };
        Self::with(&made, SECURE)
    }

    fn with(made: &dyn Fn() -> io::Result<tempfile::TempDir>, more: &str) -> Option<Self> {
        let program = program("nginx")?;
        let dir = made().expect("a directory");
        for sub in ["www/private", "www/up", "temp", "logs"] {
            std::fs::create_dir_all(dir.path().join(sub)).expect("a directory");
        }
        // Free ports: another process could take one before nginx does, and then it does not start.
        let listeners = [0; 2].map(|_| TcpListener::bind("127.0.0.1:0").expect("a port"));
        let [port, secure] = listeners.map(|listener| listener.local_addr().expect("an address").port());
        let root = dir.path().display().to_string();
        std::fs::write(dir.path().join("passwords"), "ada:{PLAIN}s3cret\n").expect("writes");
        let config = CONFIG.replace("MORE", more).replace("ROOT", &root);
        let config = config.replace("PORT", &port.to_string()).replace("SAFE", &secure.to_string());
        std::fs::write(dir.path().join("nginx.conf"), config).expect("writes");
        let mut command = Command::new(program);
        command.args([
            "-p",
            &root,
            "-c",
            &format!("{root}/nginx.conf"),
            "-e",
            &format!("{root}/logs/error.log"),
        ]);
        let process = command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().expect("nginx starts");
        let mut server = Self { process, dir, port, secure };
        server.wait(port);
        // It opens one port after the other.
        if !more.is_empty() {
            server.wait(secure);
        }
        Some(server)
    }

    /// Waits until it listens at `port`.
    fn wait(&mut self, port: u16) {
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if let Some(status) = self.process.try_wait().expect("a process") {
                let log = std::fs::read_to_string(self.dir.path().join("logs/error.log")).unwrap_or_default();
                panic!("nginx ended with {status}: {log}");
            }
            std::thread::yield_now();
        }
    }

    /// The directory that it serves.
    pub fn root(&self) -> PathBuf {
        self.dir.path().join("www")
    }

    /// The address of `path` over TLS.
    pub fn secure_url(&self, path: &str) -> String {
        format!("https://localhost:{}{path}", self.secure)
    }

    /// The certificate that says that this is `localhost`.
    pub fn certificate(&self) -> PathBuf {
        self.dir.path().join("cert.pem")
    }

    /// The bytes of a file that it holds.
    pub fn read(&self, path: &str) -> Vec<u8> {
        std::fs::read(self.dir.path().join("www").join(path)).expect("a file")
    }

    /// The address of `path` without TLS.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// Lets it hold a file, and returns where that lies.
    pub fn put(&self, path: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.dir.path().join("www").join(path.trim_start_matches('/'));
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        std::fs::write(&path, bytes).expect("a file");
        path
    }

    /// Works like [`Nginx::log`], when there are `count` lines: a line may come after the answer.
    pub fn log_of(&self, count: usize) -> Vec<String> {
        let began = Instant::now();
        let path = self.dir.path().join("logs/access.log");
        while std::fs::read_to_string(&path).expect("a log").lines().count() < count {
            assert!(began.elapsed() < Duration::from_secs(20), "{:?}", self.log());
            std::thread::sleep(Duration::from_millis(10));
        }
        self.log()
    }

    /// Lines such as `200 /a.zip`, and forgets them. Over TLS, the protocol and the number of the connection follow.
    pub fn log(&self) -> Vec<String> {
        let path = self.dir.path().join("logs/access.log");
        let text = std::fs::read_to_string(&path).expect("a log");
        std::fs::OpenOptions::new().write(true).truncate(true).open(path).expect("opens");
        text.lines().map(ToOwned::to_owned).collect()
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

const CONFIG: &str = r#"
daemon off;
master_process off;
pid ROOT/nginx.pid;
error_log ROOT/logs/error.log;
events { worker_connections 64; }
http {
    types { text/html html; text/css css; application/javascript js; image/svg+xml svg; }
    log_format short '$status $request_uri';
    log_format long '$status $request_uri $server_protocol $connection';
    access_log ROOT/logs/access.log short;
    client_body_temp_path ROOT/temp/body;
    proxy_temp_path ROOT/temp/proxy;
    fastcgi_temp_path ROOT/temp/fastcgi;
    uwsgi_temp_path ROOT/temp/uwsgi;
    scgi_temp_path ROOT/temp/scgi;
    gzip on;
    gzip_min_length 0;
    gzip_types *;
    server {
        listen 127.0.0.1:PORT;
        root ROOT/www;
        location /moved/ { return 301 /files/; }
        location /private/ {
            auth_basic "skills";
            auth_basic_user_file ROOT/passwords;
        }
    }
    MORE
}
"#;

const SECURE: &str = r"
    server {
        listen 127.0.0.1:SAFE ssl http2;
        ssl_certificate ROOT/cert.pem;
        ssl_certificate_key ROOT/key.pem;
        access_log ROOT/logs/access.log long;
        root ROOT/www;
        location /up/ { dav_methods PUT; client_max_body_size 1m; }
        location /moved/ { return 307 /up/elsewhere; }
    }
";

/// What OpenSSL is told of the certificate: an authority that vouches for itself would be none of a server.
const CERTIFICATE: &str = "
[req]
distinguished_name = name
x509_extensions = extensions
prompt = no
[name]
CN = skillpm test server
[extensions]
basicConstraints = critical, CA:FALSE
subjectAltName = DNS:localhost
";

/// Makes a key and a certificate in `dir`.
fn certify(openssl: &Path, dir: &Path) {
    std::fs::write(dir.join("certificate.conf"), CERTIFICATE).expect("writes");
    let mut command = Command::new(openssl);
    command.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]);
    command.args(["-days", "2", "-config", "certificate.conf", "-keyout", "key.pem", "-out", "cert.pem"]);
    let output = command.current_dir(dir).output().expect("openssl starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
