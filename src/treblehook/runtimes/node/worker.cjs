// What every worker runs: it loads one module and calls its functions.
//
// The module's default export is a function that is given `host` and returns its functions by name. `host.call(name, argument,
// signal)` asks the other side, which answers with a value or an error. It is spoken to over a descriptor, in JSON lines:
//   in   {"call": N, "name": NAME, "argument": JSON}, {"answer": N, "value": JSON} or {"answer": N, "error": TEXT}, {"ping": N}
//   out  the same, and {"drop": N}: nobody waits for call N any more
'use strict';

const fs = require('node:fs');
const net = require('node:net');
const path = require('node:path');
const { pathToFileURL } = require('node:url');
const { workerData } = require('node:worker_threads');

const { fd, file, log, limits } = workerData;
const socket = new net.Socket({ fd });
const asked = new Map();
const ours = [__dirname, file];
let functions;
let failure;
let requests = 0;

// Console output goes to the log at once, so that the last words before an endless loop or a crash are in it.
let logged = 0;
let logFile;
function keep(chunk) {
    if (log === null || logged > limits.logBytes) return;
    if (logFile === undefined) {
        fs.mkdirSync(path.dirname(log), { recursive: true, mode: 0o700 });
        logFile = fs.openSync(log, 'a', 0o600);
    }
    logged += chunk.length;
    if (logged > limits.logBytes) chunk = Buffer.from(`[more than ${limits.logBytes} bytes: the rest is not kept]\n`);
    fs.writeSync(logFile, chunk);
}
for (const stream of [process.stdout, process.stderr]) {
    stream._writev = undefined;
    stream._write = (chunk, encoding, done) => {
        try {
            keep(Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk, encoding));
        } catch {
            // A full disk is no reason to fail whoever prints.
        }
        done();
    };
}

// What went wrong, with the first place in the stack that is not Node's own, nor ours, nor the module's own.
function told(error) {
    try {
        if (!(error instanceof Error)) return String(error).toWellFormed().slice(0, 2000);
        const frames = String(error.stack).split('\n').slice(1);
        const frame = frames.find((line) => /^\s+at /.test(line) && !line.includes('node:') && !ours.some((place) => line.includes(place)));
        const place = frame && /((?:file:\/\/)?\/.*:\d+:\d+)\)?$/.exec(frame);
        const where = place ? ` (${decodeURI(place[1].replace('file://', ''))})` : '';
        return `${error.name}: ${error.message}`.toWellFormed().slice(0, 2000) + where;
    } catch {
        return 'something that cannot be shown';
    }
}

function answer(number, value) {
    const text = JSON.stringify(value);
    if (text !== undefined && text.length * 3 > limits.lineBytes && Buffer.byteLength(text) + 100 > limits.lineBytes) {
        return refuse(number, new RangeError(`its value has more than ${limits.lineBytes} bytes`));
    }
    socket.write(`{"answer":${number},"value":${text ?? 'null'}}\n`);
}

function refuse(number, error) {
    socket.write(`{"answer":${number},"error":${JSON.stringify(told(error))}}\n`);
}

function settle(number, value) {
    try {
        answer(number, value);
    } catch (error) {
        refuse(number, error);
    }
}

function run({ call: number, name, argument }) {
    if (failure !== undefined) return refuse(number, failure);
    let value;
    try {
        value = functions[name](argument);
    } catch (error) {
        return refuse(number, error);
    }
    if (value === null || typeof value !== 'object' || typeof value.then !== 'function') return settle(number, value);
    value.then((settled) => settle(number, settled), (error) => refuse(number, error));
}

const host = {
    call(name, argument, signal) {
        return new Promise((resolve, reject) => {
            if (signal?.aborted) return reject(signal.reason);
            if (asked.size >= limits.requests) return reject(new Error(`${limits.requests} requests are under way already`));
            const number = ++requests;
            const line = JSON.stringify({ call: number, name, argument }, (key, part) => (typeof part === 'string' ? part.toWellFormed() : part));
            if (Buffer.byteLength(line) >= limits.lineBytes) return reject(new RangeError('the request is too long'));
            const leave = () => {
                if (!asked.delete(number)) return;
                socket.write(`{"drop":${number}}\n`);
                reject(signal.reason);
            };
            signal?.addEventListener('abort', leave, { once: true });
            asked.set(number, { resolve, reject, done: () => signal?.removeEventListener('abort', leave) });
            socket.write(line + '\n');
        });
    },
};

function heard({ answer: number, value, error }) {
    const request = asked.get(number);
    if (request === undefined) return;
    asked.delete(number);
    request.done();
    if (error === undefined) request.resolve(value);
    else request.reject(new Error(error));
}

// What arrives before the module is there waits, a ping too: it stands behind the calls that came before it.
const early = [];
function take(line) {
    const message = JSON.parse(line);
    if (functions === undefined && failure === undefined) early.push(message);
    else act(message);
}

function act(message) {
    if (message.ping !== undefined) socket.write(`{"ping":${message.ping}}\n`);
    else if (message.answer !== undefined) heard(message);
    else run(message);
}

let begun = '';
socket.setEncoding('utf8');
socket.on('data', (text) => {
    let from = 0;
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', from)) {
        const line = begun + text.slice(from, at);
        begun = '';
        from = at + 1;
        take(line);
    }
    begun += text.slice(from);
});
socket.on('error', () => process.exit(0));
socket.on('close', () => process.exit(0));

import(pathToFileURL(file).href)
    .then((module) => {
        functions = module.default(host);
    })
    .catch((error) => {
        failure = error;
    })
    .then(() => early.splice(0).forEach(act));
