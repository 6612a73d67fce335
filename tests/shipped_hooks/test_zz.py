from tests.shipped_hooks.test_protect_shell import guard
async def test_x(guard):
    for s in r'''
cp -T x .env
cp --target-directory secrets x
cp -at secrets x
mv -vt secrets x
install -D x secrets/y
install -d secrets/z
rsync x secrets/
rm -rf ./
rm -rf ./*
rm -rf {secrets,}
rm -r sub
rm -rf sub/x
ln x secrets/key
ln -s ../.env
ln -s
tee -a -- .env
printf x | tee .env >/dev/null
echo x | tee >(cat > .env)
dd if=/dev/zero "of=.env"
cat x 1>.env
cat x 2>>.env
cat x >&.env
cat x >&2
exec 3>.env
exec 3<>.env
{ echo x; } > .env
(echo x) > .env
(echo x) >> secrets/key
if true; then echo; fi > .env
while false; do :; done > .env
for i in 1; do echo $i; done > .env
[[ x > .env ]]
coproc rm .env
time -p rm .env
time -o .env ls
nice -n 5 rm .env
nice -5 rm .env
ionice -c 3 rm .env
stdbuf -o L rm .env
setsid rm .env
env -u X rm .env
env -S 'rm .env'
env --split-string='rm .env'
env -C secrets rm key
env --chdir=secrets rm key
sudo -- rm .env
sudo -E rm .env
xargs -a list rm
xargs -I % sh -c 'rm %'
find . -name x | xargs -0 rm -f
find . -execdir rm {} +
find secrets -type f -exec sh -c 'rm "$1"' _ {} \;
find / -name .env -delete
find -delete
find -L . -delete
sed -ni p .env
sed -Ei s/a/b/ .env
sed -E -i'' s/a/b/ .env
sed -s -i s/a/b/ .env
sed -f script .env
sed -i -f script .env
sed s/a/b/ .env > .env
sed -e 'w .env' x
sed --expression='w .env' x
sed 's/a/b/;w .env' x
sed '/x/w .env' x
sed '$!{w .env
}' x
sed 'a\
text' x
sed 'r .env' x
awk -i inplace '{print}' .env
gawk -f prog x
perl -pi -e s/a/b/ .env
perl -ne print .env
perl script.pl
ruby -ne 1 x
node --eval 1
node -pe 1
node --print 1
python -c1
python - < x
python -ic 'x'
python3 -Sc 'x'
python3 -m http.server
python3
php -r x
bash -O extglob -c 'rm .env'
bash --rcfile x -i
bash -x script
bash -s < x
bash -lc 'rm .env'
bash +x -c 'rm .env'
sh -c "$CMD"
sh -c 'rm "$0"' .env
bash -c 'rm $1' _ .env
. ./script; rm x
source script && rm x
git -C secrets clean -fd
git --work-tree=/ checkout x
git --git-dir=x status
git -p log
git checkout -b new origin/x
git checkout -q main
git switch -c new
git switch main
git reset --har
git reset --hard -- 
git reset
git reset .env
git clean -fn
git clean -n
git clean -xf -- build
git restore --source=HEAD~1 .env
git restore -SW .env
git restore --staged --worktree .env
git stash list
git stash pop
git worktree add secrets/x
git submodule update
git diff --output .env
git diff --output=.env
git archive -o .env HEAD
git format-patch -o secrets HEAD~1
git show HEAD:.env > .env
git apply x
git apply --check x
git bundle create .env HEAD
git mv a secrets/
git update-index x
git commit -F .env
git add .env
git log -p
git rev-parse HEAD
git notes
git push
git hash-object -w x
git symbolic-ref HEAD x
git init secrets/x
git clone url secrets
git clone url
git tag x
git am x
curl -sSLo .env u
curl -sSL -o.env u
curl -OJ u
curl u > .env
curl -K conf
curl --config c
curl -D .env u
curl -T .env u
wget u
wget -P secrets u
wget -qO- u
wget -qO .env u
wget --output-document=.env u
sort -o.env x
sort --output=.env x
uniq x .env
xxd -r x .env
tar -xf a
tar --extract -f a
tar cf .env x
tar czf .env x
tar -czf out.tgz src
tar tvf a
unzip -l a
unzip -l a.zip
zip .env x
gzip .env
gzip -c .env
base64 -d x > .env
openssl enc -out .env
openssl -out secrets/k
pandoc -o .env x
rg -f x > .env
jq . x > .env
jq . .env
ls > "$(echo .env)"
ls > `echo .env`
ls > ~/x
ls > ~/.ssh/x
ls > $HOME/.ssh/x
ls > ${HOME}x/.ssh
ls > "$HOME"/.ssh/id
ls > $HOME"/.ssh/id"
ls > ~bob/x
ls > /etc/x
ls > /e?c/x
ls > /tmp/../etc/x
ls > //etc//x
ls > ../../../etc/x
cd /; ls > etc/x
cd / && ls > etc/x
cd ..; ls > x
cd .. && ls > x
cd $(pwd); rm x
cd "sub dir"; rm x
cd -P secrets; rm key
cd -- secrets; rm key
CDPATH=/x cd y
cd s*; rm key
cd sec*ts && rm key
builtin cd secrets; rm key
command cd secrets && rm key
pushd secrets && rm key
(cd secrets; rm key)
echo $(cd secrets; rm key)
cd secrets & rm key
cd secrets | rm key
if cd secrets; then rm key; fi
cd secrets && { rm key; }
{ cd secrets; }; rm key
! cd secrets; rm key
read f; rm $f
mapfile -t f < x; rm "${f[0]}"
declare -n r=x
local x=1
let x=1
((x=1))
$((1+1))
: $((x=1))
: ${x:=.env}
${x:-rm} .env
"${x[@]}"
a=(1 2)
a=(rm .env); "${a[@]}"
set -- rm .env; "$@"
hash -p /bin/rm ls
enable -f x y
shopt -s expand_aliases
unalias x
ls \
> .env
ls &>.env
ls>.env
ls>>.env;echo
ls>|.env
ls 3>.env
ls {fd}>.env
>.env ls
<x >.env
r"m" .env
r$()m .env
r$x''m .env
$'rm' .env
$"rm" .env
rm $".env"
rm .en$'v'
rm .en""v
rm .en{v,}
rm .{env,x}
rm .e{n..n}v
rm .en[!a]
rm .en[[:alpha:]]
rm -- -x .env
rm -rf -- .
rm -rf .//
rm -rf sub/..
rm -rf $PWD
rm -rf "$PWD"
rm -rf ~+
unlink .env
rmdir secrets/deep
shred -u .env
truncate -s0 .env
chmod -x .env
chmod --recursive a .
chattr +i .env
setfacl x .env
touch secrets
mkfifo secrets/x
mkdir -p secrets
mkdir -m 700 secrets/a
split x .e
patch .env x
ed .env
busybox sh -c 'rm .env'
busybox rm .env
toybox rm .env
docker run x
ssh host rm .env
at now
crontab x
parallel rm ::: .env
watch rm .env
timeout --signal=KILL 5 rm .env
script -c 'rm .env'
su -c 'rm .env'
flock x rm .env
chronic rm .env
nsenter x
doas rm .env
runuser x
make -n x
uv run rm .env
npx rimraf .env
npm exec rm .env
yarn run x
go run . .env
git grep x
tmux new 'rm .env'
cat <<-EOF > .env
	x
	EOF
cat <<"EOF"
$(rm .env)
EOF
cat <<E\OF
$(rm .env)
EOF
cat <<EOF; rm .env
x
EOF
cat <<A <<B
x
A
$(rm .env)
B
sh <<< 'rm .env'
sh <(echo rm .env)
source <(echo rm .env)
. <(echo rm .env)
eval "$(echo rm .env)"
echo 'x' > 'a b'; rm .env
echo "a\"; rm .env"
echo "a\\"; rm .env
echo 'a'\''b; rm .env'
echo a\;rm .env
#rm .env
echo #; rm .env
echo x#y; rm .env
'''.strip().split('\n'):
        pass
    import re
    text = open(__file__).read()
    lines = text.split("for s in r'''\n",1)[1].split("\n'''.strip()",1)[0]
    from tests.shipped_hooks.test_protect_shell import cases
    out=[]
    for s in cases(lines):
        r = await guard.bash(s)
        out.append(("PASS  " if r is None else "deny  ")+repr(s)+("" if r is None else "   <- "+r[15:95]))
    print("\n".join(o for o in out if o.startswith("PASS")))
