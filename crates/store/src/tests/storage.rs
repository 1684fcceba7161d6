//! Storage under the database that ends when it is told to: the process is killed, or the power fails.

use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex};

use redb::StorageBackend;
use redb::backends::FileBackend;

/// A file in a process that ends at a step: a write, a change of length, or a sync.
#[derive(Debug)]
pub(crate) struct Mortal {
    file: FileBackend,
    left: Mutex<u64>,
    /// Whether the write at that step is half done.
    torn: bool,
}

impl Mortal {
    pub fn new(file: File, steps: u64, torn: bool) -> Self {
        Self {
            file: FileBackend::new(file).unwrap(),
            left: Mutex::new(steps),
            torn,
        }
    }

    fn is_last(&self) -> bool {
        let mut left = self.left.lock().unwrap();
        *left = left.saturating_sub(1);
        *left == 0
    }
}

impl StorageBackend for Mortal {
    fn len(&self) -> Result<u64, io::Error> {
        self.file.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), io::Error> {
        self.file.read(offset, out)
    }

    fn set_len(&self, len: u64) -> Result<(), io::Error> {
        if self.is_last() {
            std::process::abort();
        }
        self.file.set_len(len)
    }

    fn sync_data(&self) -> Result<(), io::Error> {
        if self.is_last() {
            std::process::abort();
        }
        self.file.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> Result<(), io::Error> {
        if self.is_last() {
            if self.torn {
                self.file.write(offset, &data[..data.len() / 2])?;
            }
            std::process::abort();
        }
        self.file.write(offset, data)
    }
}

/// A disk: what is on it for good, and what would be lost if the power failed now.
#[derive(Clone, Debug, Default)]
pub(crate) struct Disk(Arc<Mutex<Platter>>);

#[derive(Debug, Default)]
struct Platter {
    durable: Vec<u8>,
    now: Vec<u8>,
    pending: Vec<Write>,
    /// Steps until the power fails.
    left: Option<u64>,
    steps: u64,
}

#[derive(Clone, Debug)]
enum Write {
    Length(usize),
    Bytes(usize, Vec<u8>),
}

impl Disk {
    pub fn with(bytes: Vec<u8>) -> Self {
        let platter = Platter {
            durable: bytes.clone(),
            now: bytes,
            ..Platter::default()
        };
        Self(Arc::new(Mutex::new(platter)))
    }

    /// The power fails after so many steps.
    pub fn fail_after(&self, steps: u64) {
        self.0.lock().unwrap().left = Some(steps);
    }

    /// How many steps were taken so far.
    pub fn steps(&self) -> u64 {
        self.0.lock().unwrap().steps
    }

    /// What can be read now.
    pub fn now(&self) -> Vec<u8> {
        self.0.lock().unwrap().now.clone()
    }

    /// What is on the disk when the power is back: what was synced, and of what was not, the sectors that `kept` says.
    pub fn after_power_loss(&self, kept: &mut dyn FnMut() -> bool) -> Vec<u8> {
        const SECTOR: usize = 512;
        let platter = self.0.lock().unwrap();
        let mut bytes = platter.durable.clone();
        for write in &platter.pending {
            match write {
                Write::Length(length) if kept() => bytes.resize(*length, 0),
                Write::Length(_) => {}
                Write::Bytes(offset, data) => {
                    for (number, sector) in data.chunks(SECTOR).enumerate() {
                        if kept() {
                            put(&mut bytes, offset + number * SECTOR, sector);
                        }
                    }
                }
            }
        }
        bytes
    }

    fn step(&self, write: Option<Write>) -> Result<(), io::Error> {
        let mut platter = self.0.lock().unwrap();
        if platter.left == Some(0) {
            return Err(io::Error::other("the power failed"));
        }
        platter.left = platter.left.map(|left| left - 1);
        platter.steps += 1;
        match write {
            Some(write) => {
                match &write {
                    Write::Length(length) => platter.now.resize(*length, 0),
                    Write::Bytes(offset, data) => put(&mut platter.now, *offset, data),
                }
                platter.pending.push(write);
            }
            None => {
                let platter = &mut *platter;
                for write in platter.pending.drain(..) {
                    match write {
                        Write::Length(length) => platter.durable.resize(length, 0),
                        Write::Bytes(offset, data) => put(&mut platter.durable, offset, &data),
                    }
                }
            }
        }
        Ok(())
    }
}

fn put(bytes: &mut Vec<u8>, offset: usize, data: &[u8]) {
    if bytes.len() < offset + data.len() {
        bytes.resize(offset + data.len(), 0);
    }
    bytes[offset..offset + data.len()].copy_from_slice(data);
}

impl StorageBackend for Disk {
    fn len(&self) -> Result<u64, io::Error> {
        Ok(self.0.lock().unwrap().now.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), io::Error> {
        let platter = self.0.lock().unwrap();
        let from = usize::try_from(offset).unwrap_or(usize::MAX);
        let read = platter.now.get(from..from.saturating_add(out.len()));
        out.copy_from_slice(read.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, len: u64) -> Result<(), io::Error> {
        // A disk is not endless.
        if len > 1 << 30 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.step(Some(Write::Length(len as usize)))
    }

    fn sync_data(&self) -> Result<(), io::Error> {
        self.step(None)
    }

    fn write(&self, offset: u64, data: &[u8]) -> Result<(), io::Error> {
        self.step(Some(Write::Bytes(offset as usize, data.to_vec())))
    }
}
