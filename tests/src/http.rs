//! A raw HTTP/1.1 client on a blocking socket: what it sends and what it sees is exact to the byte.

use std::{
    io::{self, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

/// A connection.
pub struct Client {
    stream: TcpStream,
    held: Vec<u8>,
}

/// A response as it came.
#[derive(Debug)]
pub struct Response {
    /// The status line and the headers, with the blank line.
    pub head: String,
    /// The body, chunked coding undone.
    pub body: Vec<u8>,
    /// The trailers' lines.
    pub trailers: Vec<String>,
    /// The body came to its end by its own framing; `false`: the connection ended first.
    pub whole: bool,
}

impl Response {
    /// The status code.
    pub fn status(&self) -> u16 {
        self.head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status line")
    }

    /// The first header of this name.
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.head, name)
    }

    /// The body as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| {
            panic!("no JSON ({error}): {}", String::from_utf8_lossy(&self.body))
        })
    }
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().skip(1).find_map(|line| {
        let (key, value) = line.split_once(':')?;
        key.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}

impl Client {
    /// Connects. Reads give up after 60 s, so that a hanging test fails.
    pub fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("the server listens");
        stream.set_read_timeout(Some(Duration::from_mins(1))).expect("a time limit can be set");
        stream.set_nodelay(true).expect("an option can be set");
        Self { stream, held: Vec::new() }
    }

    /// Sends bytes as they are.
    pub fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).expect("the server reads");
    }

    /// Sends a request with a body of known length.
    pub fn request(&mut self, method: &str, target: &str, headers: &[(&str, &str)], body: &[u8]) {
        let mut head = format!("{method} {target} HTTP/1.1\r\n");
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            let host = self.stream.peer_addr().expect("it is connected");
            head.push_str(&format!("Host: {host}\r\n"));
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if !body.is_empty() || method == "POST" {
            head.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        head.push_str("\r\n");
        self.send(head.as_bytes());
        self.send(body);
    }

    /// Reads what there is, at least a byte; empty at the end of the connection.
    ///
    /// # Errors
    ///
    /// The connection was reset.
    pub fn read_some(&mut self) -> io::Result<Vec<u8>> {
        if !self.held.is_empty() {
            return Ok(std::mem::take(&mut self.held));
        }
        let mut buffer = vec![0; 1 << 16];
        let read = self.stream.read(&mut buffer)?;
        buffer.truncate(read);
        Ok(buffer)
    }

    /// Reads the status line and headers.
    pub fn read_head(&mut self) -> String {
        let mut bytes = Vec::new();
        loop {
            if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
                self.held = bytes.split_off(end + 4);
                return String::from_utf8(bytes).expect("a head is text");
            }
            let more = self.read_some().expect("a head comes");
            assert!(
                !more.is_empty(),
                "the connection ended in the head: {:?}",
                String::from_utf8_lossy(&bytes)
            );
            bytes.extend(more);
        }
    }

    /// Reads a whole response, however it ends.
    pub fn response(&mut self) -> Response {
        let head = self.read_head();
        let mut body = Body::of(&head);
        let mut response = Response { head, body: Vec::new(), trailers: Vec::new(), whole: false };
        while !body.done() {
            match self.read_some() {
                Ok(bytes) if !bytes.is_empty() => self.held = body.push(&bytes, &mut response),
                Ok(_) => {
                    response.whole = matches!(body, Body::UntilClose);
                    return response;
                }
                Err(_) => return response,
            }
        }
        response.whole = true;
        response
    }

    /// The socket.
    pub fn socket(&self) -> &TcpStream {
        &self.stream
    }
}

/// How far a body has come.
enum Body {
    Length(usize),
    UntilClose,
    Chunked { line: Vec<u8>, left: usize, state: Chunk },
    Done,
}

#[derive(PartialEq)]
enum Chunk {
    Size,
    Data,
    DataEnd,
    Trailers,
}

impl Body {
    fn of(head: &str) -> Self {
        let status = head.split(' ').nth(1).unwrap_or_default();
        if status == "204" || status == "304" {
            return Self::Done;
        }
        if header(head, "transfer-encoding")
            .is_some_and(|value| value.eq_ignore_ascii_case("chunked"))
        {
            return Self::Chunked { line: Vec::new(), left: 0, state: Chunk::Size };
        }
        match header(head, "content-length").and_then(|value| value.parse().ok()) {
            Some(0) => Self::Done,
            Some(length) => Self::Length(length),
            None => Self::UntilClose,
        }
    }

    fn done(&self) -> bool {
        matches!(self, Self::Done)
    }

    /// Takes what belongs to the body, gives back what is behind it.
    fn push(&mut self, bytes: &[u8], response: &mut Response) -> Vec<u8> {
        match self {
            Self::UntilClose => response.body.extend_from_slice(bytes),
            Self::Length(left) => {
                let (mine, behind) = bytes.split_at((*left).min(bytes.len()));
                response.body.extend_from_slice(mine);
                *left -= mine.len();
                if *left == 0 {
                    *self = Self::Done;
                }
                return behind.to_vec();
            }
            Self::Chunked { .. } => {
                for (position, &byte) in bytes.iter().enumerate() {
                    self.push_chunked(byte, response);
                    if self.done() {
                        return bytes[position + 1..].to_vec();
                    }
                }
            }
            Self::Done => return bytes.to_vec(),
        }
        Vec::new()
    }

    fn push_chunked(&mut self, byte: u8, response: &mut Response) {
        let Self::Chunked { line, left, state } = self else { return };
        if *state == Chunk::Data {
            response.body.push(byte);
            *left -= 1;
            if *left == 0 {
                *state = Chunk::DataEnd;
            }
            return;
        }
        if byte != b'\n' {
            line.push(byte);
            return;
        }
        let text = String::from_utf8_lossy(line).trim_end().to_owned();
        line.clear();
        match state {
            Chunk::Size => {
                let size = text.split(';').next().unwrap_or_default();
                *left = usize::from_str_radix(size, 16)
                    .unwrap_or_else(|_| panic!("a chunk of size {text:?}"));
                *state = if *left == 0 { Chunk::Trailers } else { Chunk::Data };
            }
            Chunk::DataEnd | Chunk::Data => *state = Chunk::Size,
            Chunk::Trailers if text.is_empty() => *self = Self::Done,
            Chunk::Trailers => response.trailers.push(text),
        }
    }
}

/// One request on a connection of its own.
pub fn request(
    address: SocketAddr,
    method: &str,
    target: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Response {
    let mut client = Client::connect(address);
    let mut headers = headers.to_vec();
    headers.push(("Connection", "close"));
    client.request(method, target, &headers, body);
    client.response()
}

/// GET on a connection of its own.
pub fn get(address: SocketAddr, target: &str) -> Response {
    request(address, "GET", target, &[], b"")
}

/// GET of JSON with status 200.
pub fn get_json(address: SocketAddr, target: &str) -> serde_json::Value {
    let response = get(address, target);
    assert_eq!(response.status(), 200, "{target}: {}", String::from_utf8_lossy(&response.body));
    response.json()
}

/// Takes the chunked coding off, however it is cut.
#[derive(Debug, Default)]
pub struct Dechunk {
    size: Vec<u8>,
    left: usize,
}

impl Dechunk {
    /// Adds what came; what of it is the body's goes to `body`.
    ///
    /// # Panics
    ///
    /// A chunk's size is no number.
    pub fn push(&mut self, bytes: &[u8], body: &mut Vec<u8>) {
        for &byte in bytes {
            if 0 < self.left {
                self.left -= 1;
                // The last two bytes of a chunk are its line end.
                if 1 < self.left {
                    body.push(byte);
                }
            } else if byte == b'\n' {
                let line = String::from_utf8_lossy(&self.size).trim().to_owned();
                self.size.clear();
                self.left = usize::from_str_radix(&line, 16).expect("a chunk's size") + 2;
            } else {
                self.size.push(byte);
            }
        }
    }
}
