// Loads an extension as pi does, fires events one after the other, and prints what each came to.
import { readFileSync } from "node:fs"

const [, , file, cwd] = process.argv
const handlers = {}
let said = []
const note = (name) => (...words) => void said.push([name, ...words])
const pi = { on: (name, handler) => void (handlers[name] = handler), sendMessage: note("sendMessage"), sendUserMessage: note("sendUserMessage") }
const extension = await import(file)
extension.default(pi)

for (const { event, hasUI = false, idle = true, yes = false, broken = false } of JSON.parse(readFileSync(0, "utf8"))) {
  said = []
  const { input } = event
  const confirm = async (...words) => (note("confirm")(...words), yes)
  const sessionManager = {
    getSessionId() {
      if (broken) throw new Error("no session")
      return "s1"
    },
  }
  const ctx = { cwd, hasUI, model: { id: "scripted" }, isIdle: () => idle, sessionManager, ui: { notify: note("notify"), confirm } }
  try {
    const returned = await handlers[event.type](event, ctx)
    console.log(JSON.stringify({ returned: returned ?? null, event, said, same: event.input === input }))
  } catch (error) {
    console.log(JSON.stringify({ threw: error.message, event, said }))
  }
}
