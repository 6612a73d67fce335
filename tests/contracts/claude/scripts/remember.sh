#!/bin/bash
# UserPromptSubmit: whatever this prints, the model reads.
prompt=$(jq -r .prompt)
echo "Workspace rules:"
[[ "$prompt" =~ [Tt]est ]] && echo "- run the tests with make test"
echo "- answer in one paragraph"
exit 0
