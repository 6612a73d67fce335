"""A hook in Python: refuses a shell call that has the word `rm` among its arguments, and passes everything else."""

from wit_world import exports
from wit_world.imports import lifecycle, tokens


class Lifecycle(exports.Lifecycle):
    def on_stage(self, event):
        return lifecycle.HookOutput_None_()

    def on_session_start(self, ctx):
        return lifecycle.HookOutput_None_()

    def on_task_start(self, event):
        return lifecycle.HookOutput_None_()

    def on_inference(self, event):
        return lifecycle.HookOutput_Artifact(str(tokens.count(event.output or "")))

    def on_tool_call(self, event):
        return lifecycle.HookOutput_None_()

    def on_shell(self, event):
        if "rm" in event.argv:
            return lifecycle.HookOutput_Deny("leave the treasure where it is")
        return lifecycle.HookOutput_None_()

    def on_compaction(self, event):
        return lifecycle.HookOutput_ReplaceContext(event.messages[-1:])

    def on_task_end(self, event):
        return lifecycle.HookOutput_None_()

    def on_session_end(self, event):
        return lifecycle.HookOutput_None_()
