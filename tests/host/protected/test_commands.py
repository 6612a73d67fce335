"""A command line that names a protected place and is not known to only read is asked about, however it spells the place."""

import pytest

from tests.host.protected.conftest import Land

TOUCHING = [
    # Redirections.
    "echo > ~/.claude/settings.json",
    "echo >> $HOME/.claude/settings.json",
    'echo > "$HOME"/.claude/settings.json',
    'echo > "${HOME}/.claude/settings.json"',
    "echo &> {user}/.claude/settings.json",
    "cat <> .claude/settings.json",
    "> .claude/settings.json",
    "{ echo; } > .claude/settings.json",
    "if true; then echo; fi > .claude/settings.json",
    "cat > .claude/settings.json <<EOF\nhi\nEOF",
    "cat <<'EOF' > ~/.claude/settings.json\nx\nEOF",
    # Where the paths are relative to.
    "cd ~/.claude && echo > settings.json",
    "cd ~/.claude/hooks; cd ..; rm settings.json",
    "cd ~; rm .claude.json",
    "cd; rm .claude.json",
    "cd -- ~ && rm .claude.json",
    "pushd ~ && rm .claude.json",
    "cd ~/.cla* && echo > settings.json",
    "cd ~/.claude && tar xf /tmp/x.tar",
    "tar xf /tmp/x.tar -C ~/.claude",
    "git -C ~/.claude pull",
    "sh -c 'cd ~; rm .claude.json'",
    "sudo sh -c 'cd ~; rm .claude.json'",
    "echo > $PWD/../.claude/settings.json",
    # What a folder that is copied brings under its own name.
    "cp -r .claude/ ..",
    "cp -r .claude/ ~/",
    # Names that may mean other programs.
    "alias cat=rm; cat ~/.claude/settings.json",
    "hash -p /bin/rm cat; cat ~/.claude/settings.json",
    "export PATH=.; cat ~/.claude/settings.json",
    "PATH=.; cat ~/.claude/settings.json",
    # Programs that change a place without naming it.
    "treblehook uninstall claude-code --yes",
    "python3 -m treblehook uninstall codex",
    "sudo -u me treblehook trust .",
    "sh -c 'cd x; treblehook uninstall codex'",
    "sh <<< 'treblehook install pi'",
    "eval 'treblehook uninstall pi'",
    "treble''hook uninstall pi",
    "if true; then treblehook uninstall pi; fi",
    "codex features disable hooks",
    "/opt/bin/codex -c a=b features disable hooks",
    "npx -y @openai/codex@0.171.0 features disable hooks",
    "env A=1 timeout 5s gemini hooks disable",
    "claude plugin install x",
    "pi install x",
    # Links.
    "echo > file",
    "echo > dotc/settings.json",
    "echo > chain/settings.json",
    "echo > up/.claude/settings.json",
    "echo > 'a link/settings.json'",
    "sh -c \"rm 'a link/settings.json'\"",
    "tee file",
    "ln -s ~/.claude x",
    # Hidden spellings.
    "sed -i s/a/b/ ~/.claude/set*.json",
    "rm ~/.cl?ude/settings.json",
    "rm ~/.[c]laude/settings.json",
    "rm ~/.claude/[[:alpha:]]etting[!]x]?json",
    "rm ~/.cl''aude/settings.json",
    r"rm ~/.cl\aude/settings.json",
    r"rm $'{user}/.cl\x61ude/settings.json'",
    "rm ~/.cl${x}aude/settings.json",
    "rm $(pwd)/.claude/settings.json",
    "rm `pwd`/.claude/settings.json",
    "echo > $X/.claude/settings.json",
    "rm ~/.{claude,codex}/settings.json",
    "touch ~/.claude/{settings,other}.json",
    "rm ~/.claude/$F",
    "rm ~/work/../.claude//./settings.json",
    "rm ~/.CLAUDE/settings.json",
    "shopt -s dotglob; rm ~/*/settings.json",
    # Variables.
    "D=~/.claude; echo > $D/settings.json",
    'D="$HOME/.claude"; F=$D/settings.json; echo > "$F"',
    "F=settings.json; cd ~/.claude; rm $F",
    "F=$(ls ~/.claude/settings.json); rm $F",
    "for f in ~/.claude/*.json; do rm $f; done",
    "for f in settings.json; do rm ~/.claude/$f; done",
    "read f <<< ~/.claude/settings.json; rm $f",
    "X=~/.claude/settings.json make",
    "export X=~/.claude/settings.json; make",
    # Handed on.
    "ls ~/.claude/hooks | xargs rm",
    "cat <<EOF | sh\nrm ~/.claude/settings.json\nEOF",
    "echo 'rm ~/.claude/settings.json' | bash",
    "python3 <<EOF\nopen('{user}/.claude/settings.json', 'w')\nEOF",
    "python3 -c \"open('{user}/.claude/settings.json', 'w')\"",
    "echo $(rm ~/.claude/settings.json)",
    "find ~/.claude -name settings.json -exec rm {} \\;",
    "find ~/.claude -delete",
    "find ~ -name settings.json -delete",
    "dd if=/dev/zero of=$HOME/.claude/settings.json",
    "apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: ../.claude/settings.json\n*** End Patch\nEOF",
    # Moved, deleted, copied.
    "rm -rf ~/.claude",
    "rm -rf ~",
    "rm -rf ..",
    "rm -rf ~/.*",
    "mv ~/.claude /tmp",
    "mv {user} /tmp",
    "chmod -R 777 ~",
    "cp x.json ~/.claude/",
    "cp /tmp/settings.json -t .claude",
    "cp /tmp/.claude.json ~",
    "cp -r /tmp/.claude .",
    "cp -r evil/. ~",
    "rsync -a evil/ ~/",
    # What a reader does that does not only read.
    "sort x -o ~/.claude/settings.json",
    "git diff --output=$HOME/.claude/settings.json",
    "sed -n 'w /dev/stdout' ~/.claude/settings.json",
    "find . -fprint .claude/settings.json",
    "cat() { rm $1; }; cat ~/.claude/settings.json",
    "./cat ~/.claude/settings.json",
    "PATH=. cat ~/.claude/settings.json",
    "~/.claude/hooks/guard.sh",
    # Other places.
    "echo > ~/.treblehook/init.lua",
    "mkdir -p .crucible",
    "echo > .crucible/plugins/x.lua",
    "rm ~/.codex/hooks.json",
    "echo > .github/hooks/x.json",
    # Not to be read.
    "echo 'x > ~/.claude/settings.json",
    "echo $[1] > ~/.claude/settings.json",
    # A link that leads there, made in the same line.
    "ln -s ~ x && echo > x/.claude/settings.json",
    "ln -s .. x; cd x; rm .claude/settings.json",
    "cp -al ~ x && echo > x/.claude/settings.json",
    "ln ~/.claude/settings.json x",
    "cp -l ~/.claude/settings.json x",
    "ln -sf /tmp/evil ~/.claude/settings.json",
    "ln -sfn /tmp/evil .claude",
    "ln -s /tmp/x/.claude ~",
    # Where a process runs.
    "echo > /proc/self/cwd/../.claude/settings.json",
    "echo > /proc/$$/cwd/../.claude/settings.json",
    "echo > /proc/self/root{user}/.claude/settings.json",
    "env -C ~/.claude rm settings.json",
    "env HOME=/tmp rm {user}/.claude/settings.json",
    "(cd ~/.claude && rm settings.json)",
    "CDPATH=~ cd .claude; rm settings.json",
    "cd up/../.. && echo > .treblehook/config.toml",
    "cd up && cd ../.. && echo > ../.claude/settings.json",
    "cd .. && cd .claude && rm settings.json",
    "git -C ~ checkout -- .claude/settings.json",
    # Put together.
    "a=.cl; b=aude; echo > ~/$a$b/settings.json",
    "a=.claude; a+=/settings.json; echo > ~/$a",
    "echo > ~/.claude/$(echo settings.json)",
    "echo > ${HOME%/}/.claude/settings.json",
    "echo > $X/../../.claude/settings.json",
    "set -- ~/.claude/settings.json; rm $1",
    'f() { rm "$@"; }; f ~/.claude/settings.json',
    'eval "echo > ~/.cl""aude/settings.json"',
    "echo settings.json | xargs -I{} rm ~/.claude/{}",
    "node -e \"fs.writeFileSync(process.env.HOME+'/.claude/settings.json','')\"",
    "python3 -c \"(pathlib.Path.home() / '.treblehook' / 'config.toml').write_text('')\"",
    "perl -pi -e s/a/b/ ~/.claude/settings.json",
    # More programs that write.
    "curl http://x -o$HOME/.claude/settings.json",
    "wget -P ~/.claude/hooks http://x",
    "truncate -s 0 ~/.claude/settings.json",
    "jq . x | sponge ~/.claude/settings.json",
    "rsync -a --delete evil/ ~/",
    "mv /tmp/x/.claude .",
    "mv evil .claude",
    "mv evil ~/.pi",
    "ln -s /tmp/evil ~/.pi",
    "cp -r evil/.cl* .",
    "cp -r evil/.[a-z]* ~",
    "mv .claude away",
    "mkdir .claude/hooks/new",
    "sudo tee ~/.claude/settings.json",
    "timeout 5 rm ~/.claude/settings.json",
    r"\rm ~/.claude/settings.json",
    "npm --prefix ~/.treblehook/extensions install x",
    # Messages that are more than words.
    'git commit -m "$(rm ~/.claude/settings.json)"',
    "git commit -m x > ~/.claude/settings.json",
    "git -c core.editor='rm ~/.claude/settings.json' commit",
    "awk '{print > \"/dev/stdout\"}' ~/.claude/settings.json",
    "sed -n 's/a/b/w x' ~/.claude/settings.json",
]


@pytest.mark.parametrize("command", TOUCHING)
def test_asked_about(land: Land, command: str) -> None:
    assert land.bash(command) is not None


LEFT_ALONE = [
    "pip install treblehook",
    "npm install -g @google/gemini-cli",
    "git commit -m 'treblehook install codex'",
    "grep -r treblehook install",
    "echo treblehook install",
    "make -C pi install",
    "codex exec 'disable the features'",
    "claude -p 'install the plugin'",
    "treblehook hooks check",
    "python -m pytest tests/treblehook -k install",
    # Reading.
    "cat ~/.claude/settings.json",
    "/bin/cat ~/.claude/settings.json",
    "ls -la ~/.claude",
    "grep -r hook ~/.claude ~/.treblehook",
    "cat ~/.claude/settings.json | jq . > /tmp/out",
    "cat ~/.claude/settings.json | python3 -c 'import sys; print(sys.stdin.read())'",
    "cat ~/.claude/settings.json && npm test",
    "F=~/.claude/settings.json; cat $F",
    "[ -f ~/.claude/settings.json ] && echo yes",
    "if [ -f ~/.claude/settings.json ]; then cat ~/.claude/settings.json 2>/dev/null; fi",
    "sed -n 1,5p ~/.claude/settings.json",
    "while read line; do echo $line; done < ~/.claude/settings.json",
    "find ~/.claude -name '*.json' -exec grep -l hooks {} +",
    "git diff ~/.claude/settings.json",
    "cd ~ && ls .claude",
    "cat file dotc/settings.json",
    # Talking.
    "echo 'see ~/.claude/settings.json' > notes.md",
    "cat > notes.md <<EOF\n~/.claude/settings.json\nEOF",
    "make # not ~/.claude/settings.json",
    # Elsewhere.
    "git status && npm test",
    "rm -rf build",
    "pytest .",
    "git add .",
    "find . -name '*.pyc' -delete",
    "find . -name '*.py' -exec sed -i s/a/b/ {} +",
    "cp -r . /tmp/backup",
    "chmod +x src/*",
    "rm *",
    "rm $FILE",
    "rm ~/$F",
    "sed -i s/a/b/ ./$f",
    "for f in src/*; do rm $f; done",
    "touch ~/.claude/CLAUDE.md",
    "echo > .claude/output-styles/x.md",
    "mkdir -p .github/workflows",
    "echo > settings.json",
    "echo > hooks/settings.json",
    "echo > /etc/.claude/settings.json",
    # Messages.
    'git commit -m "edit ~/.claude"',
    "git commit -am 'Update .claude/settings.json'",
    "git add .claude/settings.json && git commit -m 'Add hooks'",
    "git commit -m \"$(cat <<'EOF'\nEdit ~/.claude/settings.json\nEOF\n)\"",
    "git commit -F - <<'EOF'\nEdit ~/.claude/settings.json\nEOF",
    "git tag -a v1 -m 'see ~/.claude/settings.json'",
    "gh pr create --title x --body \"$(cat <<'EOF'\nEdits ~/.claude/settings.json\nEOF\n)\"",
    "gh issue comment 5 --body 'see ~/.claude'",
    # More that reads.
    "git log --oneline -- .claude/settings.json",
    "git -C ~/.claude --no-pager log",
    "less ~/.claude/settings.json",
    "awk '/hooks/ {print}' ~/.claude/settings.json",
    "sed -n '/hooks/,/}/p' ~/.claude/settings.json",
    "sudo ls ~/.claude",
    "kill $(jq .pid ~/.treblehook/serve.lock)",
    "cp ~/.claude/settings.json /tmp/backup.json",
    "cp -r ~/.claude /tmp/backup",
    # What comes to a folder under names of its own.
    "mv build/x .",
    "mv ../foo ./",
    "mv x ..",
    "mv x.tgz ~/",
    "cp -r src/. .",
    "rsync -a src/ .",
    "rsync -a ./ host:x",
    "ln -s /opt/x .",
    "cp src/* .",
    "cp *.json ..",
    "cp ../*.json .",
    "shopt -s nullglob; cp src/* .",
    "mv build/x.* ~/",
    # Folders that hold no such place.
    "chmod -R 755 .",
    "rm -rf ./",
    "find . -type f -exec sed -i s/a/b/ {} +",
    "chmod 755 ~",
    "mkdir -p .claude ~/.codex",
    "for d in src; do (cd $d && make); done",
    "python3 -m pytest tests -k 'not slow'",
    "ln -s $PWD/src /tmp/x && make",
    "rm $ROOT/docs/.claude/settings.json",
    "",
    "\\",
]


@pytest.mark.parametrize("command", LEFT_ALONE)
def test_left_alone(land: Land, command: str) -> None:
    assert land.bash(command) is None


def test_a_star_means_the_files_that_are_there(land: Land) -> None:
    assert land.bash("rm open*") is None
    (land.work / "opencode.json").write_text("{}")

    assert land.bash("rm open*") is not None


def test_a_folder_is_poured_out_by_what_is_in_it(land: Land) -> None:
    for pour in ("cp -r evil/. .", "rsync -a evil/ ./"):
        assert land.bash(pour) is not None, "it may be made before it is poured out"
    (land.work / "evil").mkdir()
    assert land.bash("cp -r evil/. .") is land.bash("cp -r evil/.cl* .") is None
    (land.work / "evil" / ".claude").mkdir()

    for pour in ("cp -r evil/. .", "rsync -a evil/ ./", "cd evil && cp -r . ..", "mv evil/.claude .", "cp -r evil/.cl* ."):
        assert land.bash(pour) is not None


def test_a_tree_goes_with_the_places_that_are_in_it(land: Land) -> None:
    for command in ("rm -rf .", "chmod -R 700 .", "find . -delete", "mv ../work ../away"):
        assert land.bash(command) is None
    (land.work / ".opencode" / "plugin").mkdir(parents=True)

    for command in ("rm -rf .", "chmod -R 700 .", "find . -delete", "mv ../work ../away"):
        assert land.bash(command) is not None


def test_a_command_that_is_too_long_to_be_read(land: Land) -> None:
    assert "too long" in (land.bash(f"echo {'x' * 200_000}") or "")


@pytest.mark.parametrize(
    "command",
    [
        "for d in {many} .claude; do rm ~/$d/settings.json; done",
        "{assigned} a=.claude; rm ~/$a/settings.json",
        "cp {many} /tmp/.claude.json ~",
        "sudo cp {many} /tmp/.claude.json ~",
        "cat {many}; rm ~/.claude/settings.json",
        "cd {many} | cd ~/.claude; rm settings.json",
        "{gone} cd ~/.claude; rm settings.json",
        "{gone} cd ~; rm .claude.json",
        "{gone} cd ~; cd .treblehook; rm init.lua",
        "rm ~/.{{{listed},claude}}/settings.json",
    ],
)
def test_a_crowd_hides_nothing(land: Land, command: str) -> None:
    many = [f"x{number}" for number in range(500)]
    filled = command.format(
        many=" ".join(many),
        assigned=" ".join(f"a={one};" for one in many),
        gone=" ".join(f"cd {one};" for one in many),
        listed=",".join(many),
    )

    assert land.bash(filled) is not None


@pytest.mark.parametrize(
    "piece", ["cp . ", "sudo cp ./", "a+=b ", "ln ~ ", "python ~/", "mv ../ ", "cd ~/a;", "/proc/1/cwd/", "'/.claude' + "]
)
def test_no_line_of_one_piece_takes_long(land: Land, piece: str) -> None:
    # As below.
    land.bash(piece * (100_000 // len(piece)))


@pytest.mark.parametrize("piece", ["{a,b}", "$X", "*", "$(", "`", "'", '"', "\\", "<<E\n", "((", "~/", "-C x ", "[", "[]", "a*", "/.."])
def test_nothing_takes_long(land: Land, piece: str) -> None:
    # No assertion on time: what is not linear here does not come back.
    land.bash(piece * (100_000 // len(piece)))


def test_the_sentence_names_what_is_in_the_folder_that_was_gone_to(land: Land) -> None:
    assert f"{land.user}/.codex/config.toml" in (land.bash("cd ~ && echo > .codex/config.toml") or "")
    assert f"{land.work}/.codex/config.toml" in (land.bash("echo > .codex/config.toml") or "")


def test_the_sentence_names_path_and_owner(land: Land) -> None:
    told = land.bash("rm -rf ~/.claude") or ""

    assert f"{land.user}/.claude/settings.json" in told
    assert "Claude Code" in told
    assert "the user is asked" in told
