"""A word about the treasure, and one more pass for a reply that says done and shows no map."""

import re


def activate(treblehook):
    rows = treblehook.config.get("rows", {})

    def spot(turn):
        if not re.search("treasure", turn["prompt"], re.IGNORECASE):
            return {"power": "observe"}
        return {"power": "mutate", "context": "The crow buried it under the third palm.", "display": rows.get("spotted", "")}

    def nudge(turn):
        if not re.search(r"\bdone\b", turn["reply"], re.IGNORECASE) or re.search(r"\bmap\b", turn["reply"], re.IGNORECASE):
            return {"power": "observe"}
        return {"power": "continue", "context": "You said done but drew no map.", "display": rows.get("nudge", "")}

    treblehook.hooks.register_pre_turn(spot)
    treblehook.hooks.register_turn_ending(nudge)
