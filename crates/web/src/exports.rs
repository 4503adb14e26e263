//! The functions that a page calls: `room` for a request's bytes, `answer` for its answer, `length`
//! for the answer's length.

use crate::page::Page;
use std::cell::RefCell;
use std::panic;

#[derive(Default)]
struct Memory {
    page: Page,
    request: Vec<u8>,
    answer: Vec<u8>,
}

thread_local! {
    static MEMORY: RefCell<Memory> = RefCell::default();
    /// A panic ends the instance. Its message stays readable for the page.
    static PANIC: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Makes room for a request, and returns its address. Drops the last answer.
#[expect(unsafe_code, reason = "a name that a page can call")]
#[unsafe(no_mangle)]
pub extern "C" fn room(bytes: usize) -> *mut u8 {
    MEMORY.with_borrow_mut(|memory| {
        memory.answer = Vec::new();
        memory.request.clear();
        memory.request.resize(bytes, 0);
        memory.request.as_mut_ptr()
    })
}

/// Answers the request, and returns the address of the answer.
#[expect(unsafe_code, reason = "a name that a page can call")]
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u8 {
    panic::set_hook(Box::new(|panicked| {
        PANIC.with_borrow_mut(|message| *message = panicked.to_string().into_bytes());
    }));
    MEMORY.with_borrow_mut(|memory| {
        memory.answer = memory.page.answer(&memory.request);
        memory.answer.as_ptr()
    })
}

/// Returns the length of the answer in bytes.
#[expect(unsafe_code, reason = "a name that a page can call")]
#[unsafe(no_mangle)]
pub extern "C" fn length() -> usize {
    MEMORY.with_borrow(|memory| memory.answer.len())
}

/// Returns the address of the message of a panic.
#[expect(unsafe_code, reason = "a name that a page can call")]
#[unsafe(no_mangle)]
pub extern "C" fn fault() -> *const u8 {
    PANIC.with_borrow(|message| message.as_ptr())
}

/// Returns the length of a panic's message in bytes; 0 without a panic.
#[expect(unsafe_code, reason = "a name that a page can call")]
#[unsafe(no_mangle)]
pub extern "C" fn fault_length() -> usize {
    PANIC.with_borrow(Vec::len)
}
