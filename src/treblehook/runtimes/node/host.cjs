// The main thread of the Node process: it starts and ends workers, and tells of those that ended. It runs no foreign code.
//
// It is spoken to over the descriptor in its first argument, in JSON lines:
//   in   {"open": N, "fd": D, "module": FILE, "log": FILE or null, "limits": {…}}   start worker N, which speaks over D
//        {"end": N}                                                                 end it, whatever it is doing
//   out  {"hello": VERSION}
//        {"ended": N, "why": TEXT}                                                  it is gone, and nobody asked for that
// When the other side closes the descriptor, the process exits.
'use strict';

const net = require('node:net');
const path = require('node:path');
const { Worker } = require('node:worker_threads');

const control = new net.Socket({ fd: Number(process.argv[2]) });
const workers = new Map();

function send(message) {
    control.write(JSON.stringify(message) + '\n');
}

function told(error) {
    try {
        return String((error && error.message && `${error.name}: ${error.message}`) || error).slice(0, 2000);
    } catch {
        return 'something that cannot be shown';
    }
}

function open({ open: number, fd, module: file, log, limits }) {
    let why = '';
    const worker = new Worker(path.join(__dirname, 'worker.cjs'), {
        workerData: { fd, file, log, limits },
        resourceLimits: { maxOldGenerationSizeMb: limits.heapMb },
    });
    workers.set(number, worker);
    worker.on('error', (error) => {
        why = error && error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? `it used more than ${limits.heapMb} MB` : `it crashed: ${told(error)}`;
    });
    worker.on('exit', (code) => {
        if (workers.delete(number)) send({ ended: number, why: why || `it called process.exit(${code})` });
    });
}

function end({ end: number }) {
    const worker = workers.get(number);
    workers.delete(number);
    if (worker) worker.terminate();
}

let rest = '';
control.setEncoding('utf8');
control.on('data', (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop();
    for (const message of lines.map((line) => JSON.parse(line))) (message.open === undefined ? end : open)(message);
});
control.on('error', () => process.exit(0));
control.on('close', () => process.exit(0));
send({ hello: process.version });
