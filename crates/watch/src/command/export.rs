//! Where metrics go: to Prometheus, which fetches them, or by OTLP to a collector or into a file.

use super::found::Found;
use eifel_command::Usage;
use std::fs::File;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The time between two exports by OTLP, in nanoseconds.
const EVERY: u64 = 10_000_000_000;
/// The longest wait for a collector. Facts meanwhile stay in the kernel's ring.
const COLLECTOR_WAIT: Duration = Duration::from_secs(2);
/// Where collectors take metrics (OTLP 1.5, section "OTLP/HTTP Request").
const METRICS_PATH: &str = "/v1/metrics";

/// Answers scrapes until it is dropped.
pub(super) struct Scraped {
    server: Arc<tiny_http::Server>,
    /// What the next scrape gets.
    text: Arc<Mutex<String>>,
}

impl Scraped {
    /// Listens at `address`, as `127.0.0.1:9760`.
    ///
    /// # Errors
    /// Returns what is wrong with the address, or why it cannot be used.
    pub(super) fn listen(address: &str) -> Result<Self, Usage> {
        let is_full =
            address.rsplit_once(':').is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok());
        if !is_full {
            return Err(Usage(format!("--listen {address}: expected ADDRESS:PORT, as 127.0.0.1:9760")));
        }
        let refused = |error: &dyn std::fmt::Display| Usage(format!("--listen {address}: {error}"));
        let server = Arc::new(tiny_http::Server::http(address).map_err(|error| refused(&error))?);
        let text = Arc::new(Mutex::new(Found::default().prometheus()));
        let scraped = Self { server, text };
        let (server, text) = (Arc::clone(&scraped.server), Arc::clone(&scraped.text));
        thread::spawn(move || server.incoming_requests().for_each(|request| answer(request, &text)));
        Ok(scraped)
    }

    /// Returns where the metrics are.
    pub(super) fn url(&self) -> String {
        format!("http://{}/metrics", self.server.server_addr())
    }

    /// Shows what was found so far.
    pub(super) fn show(&self, found: &Found) {
        *self.text.lock().unwrap_or_else(PoisonError::into_inner) = found.prometheus();
    }
}

impl Drop for Scraped {
    fn drop(&mut self) {
        self.server.unblock();
    }
}

fn answer(request: tiny_http::Request, text: &Mutex<String>) {
    let path = request.url().split('?').next().unwrap_or_default();
    let is_get = *request.method() == tiny_http::Method::Get;
    let (code, body) = match (path, is_get) {
        ("/metrics", true) => (200, text.lock().unwrap_or_else(PoisonError::into_inner).clone()),
        _ => (404, "only GET /metrics is here\n".to_owned()),
    };
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    let response = tiny_http::Response::from_string(body).with_status_code(code);
    let Ok(header) = tiny_http::Header::from_bytes("Content-Type", kind) else { return };
    // A scraper that went away misses its answer.
    _ = request.respond(response.with_header(header));
}

/// Exports metrics by OTLP every ten seconds.
pub(super) struct Otlp {
    to: Destination,
    /// In nanoseconds since 1970, as all times here.
    began: u64,
    host: String,
    last: u64,
    /// Whether the latest export failed, which is said once.
    failed: bool,
}

enum Destination {
    /// One request a line, as the collector's `otlpjsonfile` receiver reads.
    File(String, File),
    Collector(String, ureq::Agent),
}

impl Otlp {
    /// Exports to `to` from `now` on: the address of a collector, as `http://127.0.0.1:4318`, or a file.
    ///
    /// # Errors
    /// Returns why the file cannot be written, or what is wrong with the address.
    pub(super) fn open(to: &str, now: u64) -> Result<Self, Usage> {
        let destination = match to.split_once("://") {
            Some(("http", _)) => {
                let base = to.trim_end_matches('/');
                let url = if base.ends_with(METRICS_PATH) { base.to_owned() } else { format!("{base}{METRICS_PATH}") };
                let config = ureq::Agent::config_builder().timeout_global(Some(COLLECTOR_WAIT)).build();
                Destination::Collector(url, config.into())
            }
            Some(_) => {
                return Err(Usage(format!("--otlp {to}: expected http://ADDRESS:PORT of a collector, or a file")));
            }
            None => {
                let file = File::create(to).map_err(|error| Usage(format!("--otlp {to}: {error}")))?;
                Destination::File(to.to_owned(), file)
            }
        };
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        Ok(Self { to: destination, began: now, host, last: now, failed: false })
    }

    /// Exports what was found by `now`, if it is time, or if this is the end. Returns why it failed; a failure that
    /// goes on is not told again.
    pub(super) fn export(&mut self, found: &Found, now: u64, is_end: bool) -> Option<String> {
        if !is_end && now.saturating_sub(self.last) < EVERY {
            return None;
        }
        self.last = now;
        let text = found.otlp((self.began, now), &self.host).to_string();
        let done = match &mut self.to {
            Destination::File(name, file) => {
                writeln!(file, "{text}").map_err(|error| format!("--otlp {name}: {error}"))
            }
            Destination::Collector(url, agent) => {
                let sent = agent.post(&*url).header("Content-Type", "application/json").send(&text);
                sent.map(drop).map_err(|error| format!("--otlp {url}: {error}"))
            }
        };
        let before = std::mem::replace(&mut self.failed, done.is_err());
        done.err().filter(|_| !before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eifel_testkit::Folder;
    use std::io::Read;
    use std::net::TcpStream;

    fn fetched(server: &Scraped, request: &str) -> String {
        let mut stream = TcpStream::connect(server.server.server_addr().to_ip().unwrap()).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn a_scrape_gets_the_latest_metrics_and_another_path_gets_none() {
        let server = Scraped::listen("127.0.0.1:0").unwrap();
        // One that sends half of its request stops no other.
        let mut hangs = TcpStream::connect(server.server.server_addr().to_ip().unwrap()).unwrap();
        hangs.write_all(b"GET /metr").unwrap();
        let text = fetched(&server, "GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        assert!(text.starts_with("HTTP/1.1 200 OK\r\n"), "{text}");
        assert!(text.contains("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"), "{text}");
        assert!(text.ends_with(&Found::default().prometheus()), "{text}");
        let other = fetched(&server, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        assert!(other.starts_with("HTTP/1.1 404 Not Found\r\n"), "{other}");
    }

    #[test]
    fn an_address_needs_a_port_that_is_free() {
        for address in ["9760", ":9760", "127.0.0.1:", "127.0.0.1:65536"] {
            let refused = Scraped::listen(address).err().map(|Usage(text)| text);
            assert_eq!(refused, Some(format!("--listen {address}: expected ADDRESS:PORT, as 127.0.0.1:9760")));
        }
        let taken = Scraped::listen("127.0.0.1:0").unwrap();
        let address = taken.server.server_addr().to_string();
        let Usage(refused) = Scraped::listen(&address).err().unwrap();
        assert!(refused.starts_with(&format!("--listen {address}: Address already in use")), "{refused}");
    }

    #[test]
    fn a_collector_gets_each_export_and_its_absence_is_told_once() {
        let collector = tiny_http::Server::http("127.0.0.1:0").unwrap();
        let url = format!("http://{}", collector.server_addr());
        let mut otlp = Otlp::open(&url, 5).unwrap();
        let served = thread::spawn(move || {
            let mut request = collector.recv().unwrap();
            let mut body = String::new();
            request.as_reader().read_to_string(&mut body).unwrap();
            let got = (request.url().to_owned(), body);
            request.respond(tiny_http::Response::from_string("{}")).unwrap();
            got
        });
        assert_eq!(otlp.export(&Found::default(), EVERY + 4, false), None, "ten seconds are not over");
        assert_eq!(otlp.export(&Found::default(), EVERY + 5, false), None);
        let (path, body) = served.join().unwrap();
        assert_eq!(path, METRICS_PATH);
        let body: serde_json::Value = serde_json::from_str(&body).unwrap();
        assert!(body["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].is_array());
        // Now nobody listens there.
        assert!(
            otlp.export(&Found::default(), EVERY, true)
                .is_some_and(|said| said.starts_with(&format!("--otlp {url}/v1/metrics: ")))
        );
        assert_eq!(otlp.export(&Found::default(), EVERY, true), None);
    }

    #[test]
    fn a_destination_is_a_file_or_a_collector_without_encryption() {
        assert!(Otlp::open("https://127.0.0.1:4318", 0).is_err());
        assert!(Otlp::open("/nowhere/metrics.json", 0).is_err());
        let folder = Folder::new();
        let file = folder.join("metrics.json");
        let mut otlp = Otlp::open(&file.display().to_string(), 0).unwrap();
        assert_eq!(
            [otlp.export(&Found::default(), EVERY, true), otlp.export(&Found::default(), EVERY, true)],
            [None, None]
        );
        let text = std::fs::read_to_string(&file).unwrap();
        assert_eq!(text.lines().count(), 2);
        assert!(text.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
    }
}
