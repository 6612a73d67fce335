import { spawn } from "node:child_process"
import { mkdirSync, statSync, writeFileSync } from "node:fs"
import http from "node:http"
import { dirname } from "node:path"

/** No answer has come in time: asking once more would take as long again. */
class Late extends Error {}

/** What a handler throws on purpose, where a throw is how this agent is told no. */
class Refusal extends Error {}

let silent = false

/** Leaves the mark by which `treblehook doctor` knows that this code is loaded; a home that is gone does not get it. */
function leaveMark() {
  const folder = dirname(TREBLEHOOK.loaded)
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if (error.code !== "EEXIST") return
  }
  try {
    writeFileSync(TREBLEHOOK.loaded, "")
  } catch {
    // Doctor misses it then; no agent has to.
  }
}

/** Whether a refusal must stand where no answer is to be had. */
function isClosed(event) {
  return TREBLEHOOK.events[event]?.closed === true
}

/** One line for the user, and no other until an answer has come again. */
function tell(show, line) {
  if (silent) return
  silent = true
  show(`treblehook: ${line}`)
}

/** The gateway's answer to one hook call; {} for no opinion. Without an answer, the policy of the event: a refusal or {}. Never fails. */
async function ask(event, call, show) {
  try {
    const found = checked(await answerTo(event, JSON.stringify({ event, ...call })))
    silent = false
    return found
  } catch (error) {
    if (!isClosed(event)) {
      tell(show, `${event}: the hooks were not asked: ${error.message}`)
      return {}
    }
    const reason = `treblehook: no answer can be had, so this is denied: ${error.message}`
    return { deny: reason, block: reason }
  }
}

/** Runs a handler so that only what it means to throw gets out; for a closed event every other failure is a refusal too. */
async function guarded(event, show, handle, refuse) {
  try {
    return await handle()
  } catch (error) {
    if (error instanceof Refusal) throw error
    const why = `${event}: the plugin failed: ${error?.message ?? error}`
    if (isClosed(event)) return refuse(`treblehook: ${why}`)
    tell(show, `${why}; the hooks were not obeyed`)
  }
}

/** The agents wait for as long as it takes, so the time for both ways together ends here. */
async function answerTo(event, body) {
  const end = performance.now() + TREBLEHOOK.seconds * 1000
  try {
    return await post(event, body, end)
  } catch (error) {
    if (error instanceof Late) throw error
    return await runClient(event, body, end)
  }
}

function post(event, body, end) {
  return new Promise((resolve, reject) => {
    if (statSync(TREBLEHOOK.socket).uid !== process.getuid()) throw new Error(`${TREBLEHOOK.socket} is another user's`)
    const request = http.request({
      socketPath: TREBLEHOOK.socket,
      path: `/hooks/${TREBLEHOOK.agent}?event=${encodeURIComponent(event)}`,
      method: "POST",
      headers: { host: "localhost", "content-type": "application/json", "content-length": Buffer.byteLength(body) },
      agent: false,
    })
    const fail = (error) => {
      clearTimeout(timer)
      reject(error)
      request.destroy()
    }
    const timer = setTimeout(() => fail(late()), end - performance.now())
    request.on("error", fail)
    request.on("response", (response) => {
      const parts = []
      response.on("data", (part) => parts.push(part))
      response.on("error", fail)
      response.on("aborted", () => fail(new Error("the gateway hung up")))
      response.on("end", () => {
        if (response.statusCode !== 200) return fail(new Error(`the gateway answered ${response.statusCode}`))
        clearTimeout(timer)
        resolve(Buffer.concat(parts).toString("utf8"))
      })
    })
    request.end(body)
  })
}

/** The command client starts a daemon where none runs. */
function runClient(event, body, end) {
  return new Promise((resolve, reject) => {
    const [program, ...words] = TREBLEHOOK.events[event].client
    const child = spawn(program, words, { stdio: "pipe" })
    const said = { stdout: [], stderr: [] }
    const fail = (error) => {
      clearTimeout(timer)
      reject(error)
      child.kill("SIGKILL")
    }
    const timer = setTimeout(() => fail(late()), end - performance.now())
    child.on("error", fail)
    for (const name of ["stdout", "stderr"]) child[name].on("data", (part) => said[name].push(part))
    child.on("close", (status) => {
      clearTimeout(timer)
      const [answer, complaint] = [said.stdout, said.stderr].map((parts) => Buffer.concat(parts).toString("utf8").trim())
      if (status === 0 && answer) resolve(answer)
      else reject(new Error(complaint || `the command client ended with status ${status}`))
    })
    // A client that ends before it has read everything has its say by its exit status.
    child.stdin.on("error", () => {})
    child.stdin.end(body)
  })
}

function late() {
  return new Late(`no answer within ${TREBLEHOOK.seconds} s`)
}

const TEXTS = ["deny", "ask", "block", "context", "content", "continue"]

/** The answer as an object whose known keys have the types that the handlers count on. */
function checked(text) {
  const answer = JSON.parse(text)
  if (!isObject(answer)) throw new Error("the answer is no object")
  for (const key of TEXTS) if (key in answer && typeof answer[key] !== "string") throw new Error(`the answer's ${key} is no text`)
  if ("args" in answer && !isObject(answer.args)) throw new Error("the answer's args are no object")
  return answer
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** The agent goes on with the object that it has, so that is changed and not replaced. */
function become(object, wanted) {
  for (const key of Object.keys(object)) if (!(key in wanted)) delete object[key]
  Object.assign(object, wanted)
}
