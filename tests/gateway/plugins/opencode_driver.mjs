// Loads a plugin as OpenCode does, calls its hooks one after the other, and prints what each did to its output.
import { readFileSync } from "node:fs"

const [, , file, directory] = process.argv
const plugin = Object.values(await import(file))
if (plugin.length !== 1) throw new Error("OpenCode calls every export")
const hooks = await plugin[0]({ directory })

// With `jump` the clock goes on by so many milliseconds each time that it is looked at.
const now = performance.now.bind(performance)
let [jump, jumped] = [0, 0]
Object.defineProperty(performance, "now", { value: () => now() + (jumped += jump) })

for (const step of JSON.parse(readFileSync(0, "utf8"))) {
  const { hook, input, output } = step
  const args = output?.args
  jump = step.jump ?? 0
  try {
    const returned = await hooks[hook](input, output)
    console.log(JSON.stringify({ returned: returned ?? null, output: output ?? null, same: output?.args === args }))
  } catch (error) {
    console.log(JSON.stringify({ threw: error.message, output: output ?? null }))
  }
}
