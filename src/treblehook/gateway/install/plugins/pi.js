export default function (pi) {
  leaveMark()
  /** The end of a turn is not waited for by pi; the end of the session waits for it. */
  let ending = Promise.resolve()

  function shower(ctx) {
    const ui = ctx.hasUI ? ctx.ui : undefined
    return (line) => (ui ? ui.notify(line, "warning") : console.error(line))
  }

  function asked(event, ctx, input) {
    const about = { session: ctx.sessionManager.getSessionId(), workspace: ctx.cwd, model: ctx.model?.id ?? "" }
    return ask(event.type, { ...about, input: { type: event.type, ...input } }, shower(ctx))
  }

  /** Goes with the prompt that is being given, or with the next one. */
  function addContext(context, ctx) {
    if (!context) return
    const message = { customType: "treblehook", content: context, display: false }
    pi.sendMessage(message, { deliverAs: ctx.isIdle() ? "nextTurn" : "steer" })
  }

  function texts(content) {
    return Array.isArray(content) ? content.filter((one) => one.type === "text") : []
  }

  async function toldOnly(event, ctx) {
    const answer = await asked(event, ctx, { reason: event.reason })
    addContext(answer.context, ctx)
  }

  async function prompted(event, ctx) {
    const answer = await asked(event, ctx, { text: event.text, source: event.source })
    if (answer.block !== undefined) return notGiven(answer.block, ctx)
    addContext(answer.context, ctx)
  }

  function notGiven(reason, ctx) {
    shower(ctx)(`The prompt was blocked: ${reason}`)
    return { action: "handled" }
  }

  async function coming(event, ctx) {
    const answer = await asked(event, ctx, { toolName: event.toolName, toolCallId: event.toolCallId, input: event.input })
    if (answer.deny !== undefined) return denied(answer.deny)
    if (answer.args !== undefined) become(event.input, answer.args)
    if (answer.ask !== undefined) return await asUserSays(event, ctx, answer.ask)
  }

  async function asUserSays(event, ctx, reason) {
    if (!ctx.hasUI) return denied(`${reason} There is no user here to ask, so this was not run.`)
    const yes = await ctx.ui.confirm(`${event.toolName}: ${reason}`, JSON.stringify(event.input, null, 2))
    if (yes !== true) return denied(`${reason} The user said no.`)
  }

  function denied(reason) {
    return { block: true, reason }
  }

  /** A command that the user types behind a `!`; all that pi takes in its place is a result. */
  async function typed(event, ctx) {
    const answer = await asked(event, ctx, { command: event.command })
    if (answer.deny !== undefined) return notRun(answer.deny)
    if (answer.ask === undefined) return
    const no = await asUserSays({ toolName: "bash", input: { command: event.command } }, ctx, answer.ask)
    if (no) return notRun(no.reason)
  }

  function notRun(output) {
    return { result: { output, exitCode: 1, cancelled: false, truncated: false } }
  }

  async function ran(event, ctx) {
    const { toolName, toolCallId, input, isError } = event
    const answer = await asked(event, ctx, { toolName, toolCallId, input, content: texts(event.content), isError })
    if (answer.content === undefined) return
    const others = event.content.filter((one) => one.type !== "text")
    return { content: [{ type: "text", text: answer.content }, ...others], isError: answer.is_error === true }
  }

  async function turnEnded(event, ctx) {
    const last = event.messages.findLast((message) => message.role === "assistant")
    if (last?.stopReason !== "stop") return
    const answer = await asked(event, ctx, { messages: [{ role: last.role, content: texts(last.content) }] })
    if (answer.continue === undefined) return
    if (ctx.hasUI) pi.sendUserMessage(answer.continue, { deliverAs: "followUp" })
    else console.error(`treblehook: a hook would send the model back, but this run is over: ${answer.continue}`)
  }

  async function sessionEnded(event, ctx) {
    // What went wrong there has been told there.
    await ending.catch(() => undefined)
    await asked(event, ctx, { reason: event.reason })
  }

  function on(name, handle, refuse = () => undefined) {
    pi.on(name, (event, ctx) => {
      const show = shower(ctx)
      return guarded(name, show, () => handle(event, ctx), (reason) => refuse(reason, ctx))
    })
  }

  on("session_start", toldOnly)
  on("input", prompted, notGiven)
  on("tool_call", coming, denied)
  on("user_bash", typed, notRun)
  on("tool_result", ran)
  on("session_before_compact", (event, ctx) => asked(event, ctx, { customInstructions: event.customInstructions }).then(() => undefined))
  on("session_compact", toldOnly)
  on("agent_end", (event, ctx) => (ending = turnEnded(event, ctx)))
  on("session_shutdown", sessionEnded)
}
