package policy

import (
	"math/rand/v2"
	"strings"
	"testing"

	"adze/internal/testkit/effort"
)

func newJudgedLines(t *testing.T) *lineMaker {
	n := effort.Seed(t, 1)
	return &lineMaker{Rand: rand.New(rand.NewPCG(n, 3)), commands: append(judgedCommands(), laterCommands()...), forms: judgedForms(), words: judgedWords()}
}

// judgedCommands hold W for a word; most of them are allowed with a harmless one.
func judgedCommands() []string {
	return strings.Split(`ls W
ls -l W W
cat W
cat W W
cat < W
cat a.go
head -3 W
head -n 2 W
tail -n +1 W
wc -l W
wc -l *.go
grep package W
grep -n W a.go
grep -rn d sub
grep -r CANARY W
grep -e W W
grep -f W a.go
sort W
sort -u W W
sort -o W a.go
uniq W W
cut -c1-3 W
nl W
tac W
diff W W
cmp a.go W
sed -n 1,2p W
sed -n W a.go
sed W a.go
sed s/a/b/W a.go
awk W a.go
awk '{print $1}' W
find W
find . -name W
find W -type f
find sub -exec cat {} +
find . -name W -exec cat {} \;
stat -c %s W
du -s W
date W
date +%Y
basename W
echo W
echo W W
printf %s W
printf W
[ -f W ]
test W
[ W = W ]
[ -v W ]
echo W > W
echo x > new.txt
echo x >> W
echo x >new.txt 2>&1
cat a.go > W
echo x | tee W
tee W < a.go
go test W
go test ./...
npm run test W
npm run lint -- W
make
git status
git log --oneline
git log W
git diff W
git show HEAD
git show W
git commit -m W
git branch -a
git branch W
git -C W status
rm -f W
rm W
cd sub
cd W
cd W && cat d.txt
cd sub && cat ../W
x=W
x=a.go
read -r x
FOO=1 go test
W=1 make
LC_ALL=W sort a.go
LC_ALL=C sort a.go
CI=1 W
env CI=1 make
env W
timeout 5 cat W
xargs go test
xargs cat
xargs W
export CI=1
export W
exit 0
zap
evil W`, "\n")
}

// laterCommands are those that take what others print.
func laterCommands() []string {
	return strings.Split("find odd -exec cat {} +~find . -name '*.go' | xargs W~cat $(find W)~wc -l $(git ls-files)~command rm W -v~command -v W~grep -l x W~diff <(W) W~diff -r sub W~diff -rq W W~printf W W~printf -- W W~"+
		`cat < /dev/tcp/W/80~find W -exec sed -n {} a.go \;~find W -exec awk {} a.go \;~find W -exec grep {} a.go \;`, "~")
}

// judgedWords are what stands for W: harmless words, and those of somebody who wants something
// else.
func judgedWords() []string {
	return strings.Split(`a.go|b.go|sub|sub/c.go|'a b'|names.txt|*.go|sub/*|*|?.go|[ab].go|./*|sub/*.go|d*|-*|*rf|.*|dash/*|odd/*|link/*|in/*|l*/*|link*/|link/../*|far/../*|*/|*/*|*/*/|*/../*|*/.env*|**|.*/*|i*/c.go|sub/out*/|odd/a*|lo*/*|"$PWD"/*.go|~/*|"$HOME"/*|../*|../*/*|/*|"$x"/*|"$x"*|$(cat patterns.txt)|"$(cat patterns.txt)"|'../outside/*'|{a,b}.go|{1..3}|"$x"|$x|${x}|"$HOME"|$HOME/h.txt|$PWD/a.go|~|~/h.txt|"$V"|$V|$X`+
		`|.env|sub/.env.local|keep.txt|../outside/o.txt|link/o.txt|sub/out.txt|in/../../outside/o.txt|in/c.go|.git/config|.git/hooks/x|.envrc|new.txt|sub/new.txt|/dev/null|/dev/stdin|-|--|-rf|-o|-f|--output=w.txt|-ofile`+
		`|"$(cat a.go)"|$(cat names.txt)|"$(zap)"|$(ls)|$(echo zap)|"$(cat <<'E'
text
E
)"|'$(zap)'|"a$x"|a"$x"b|$?|"$?"|x=y|a\ b|\*|\$x|'1e zap'|'w out.txt'|'s/a/b/w o.txt'|'1,2p'|'{print > "o.txt"}'|'BEGIN{system("zap")}'|'{print $1 | "zap"}'|'{print}'|'/a/{print}'|'{getline x < "../outside/o.txt"; print x}'`+
		`|%n|'%-5ln'|%%n|s/a/b/|1/|-s|010203|-v|-z|-n|'a[$(zap)]'|-c|--pre=zap|-exec|';'|'|'|\;|+|HEAD|HEAD:.env|:.env|HEAD:a.go|main|PATH|BASH_ENV|LD_PRELOAD|1|./zap|[|]|!|=|<(zap)|>(zap)|new{1,2}.txt|"new file"|$'a\n'|"$x/a.go"|sub/"$x"|$(echo a.go)`, "|")
}

// judgedForms hold § and &&& for commands, and Q for quoted ones, of more than one level.
func judgedForms() []string {
	return strings.Split(`§@§@§ && &&&@§ || &&&@§; &&&@§
&&&@§ | &&&@§ | head -1@§ 2>&1 | &&&@§ 2>/dev/null@§ >/dev/null 2>&1@§ > new.txt@§ >> sub/new.txt 2>&1@(§)@(§) > new.txt@( cd sub && § )@{ §; }@{ §; &&&; } > new.txt@! §@if §; then &&&; fi@if §; then &&&; else §; fi@if [ -f a.go ]; then §; elif §; then &&&; fi`+
		`@for x in W W; do §; done@for x in *; do §; done@for x in *.go; do §; &&&; done@for x in $(§); do &&&; done@for x in 1 2; do for y in W; do §; done; done@for x in W; do cd "$x"; done; §@while read -r x; do §; done < W@while read -r x; do §; done < names.txt@while read -r x; do §; done < patterns.txt@x='../outside/*'; echo $x@x='*/*'; &&&; echo $x "$x"@for x in $(cat patterns.txt); do §; done@echo $(§)@for x in in link; do echo "$x"/*; §; done@echo x > new.txt; echo W W@cat names.txt | while read -r x; do §; done@§ | while read x; do &&&; done`+
		`@while false; do §; done; &&&@x=W; §@x=W && y="$x"; §@x=$(§); &&&@x="$(§)"; echo "$x"@if §; then x=W; fi; &&&@[ -d sub ] && cd sub; §@cd sub; §@cd sub && §; &&&@cd sub || §; &&&@§ && cd sub; &&&@false && cd sub; §@true || cd sub; §@(cd sub); §@cd nothere; §@cd W; §@cd link; §@cd in && §`+
		`@[[ -f W ]] && §@[[ W == W ]] && §@[[ $x = a* ]] || §@[[ W -eq 1 ]] && §@time §@§ # W
&&&@§ \
 && &&&@cat <<'E' | §
W
E@cat <<E
W
E@§ <<'E'
zap
E@§ <<< W@cat > new.txt <<'E'
W
E@§ && cat <<'E' > sub/new.txt
$(zap)
E@sh <<'E'
§
E@bash -c Q@eval Q@echo Q@git commit -m Q@git commit -m "$(cat <<'E'
§
E
)"@echo "$(§)"@echo $(§)@cat "$(§)"@cat $(§)@cat <(§)@diff <(§) <(&&&)@§ < <(&&&)@while read -r x; do §; done < <(&&&)@find . | xargs §@find . -type f | sort | xargs -n 1 §@cd odd && cat $(find . -type f)@cd dash && find . | xargs §@cd odd && find . | xargs cat@ls $(§)@wc -l $(§ | &&&)@cat $(git ls-files | §)@§ | xargs cat@rm -f sub/c.go; cat $(find .)@§ &@§ & &&&@case a in a) §;; esac@f() { §; }; f@timeout 5 §@nice -n 5 §@env CI=1 §@xargs §@echo W | xargs §@echo W | xargs -I{} §@find . -name a.go -exec § {} \;@CI=1 §@PATH=. §@x=1 §@command §@exec §@set -e; §@export CI=1; §@set -- W; §@shopt -s nullglob; §@IFS=/; §@unset x; §@trap Q EXIT`+
		`@alias ls=zap
§@rm -f sub/c.go; §@make && §@go test && cat *@rm -f a.go && ls *.go@echo x > new.txt && cat new.txt@echo "$x" && x=W && §@x=../outside/o.txt; §@x=-rf; §@x='a b'; §@x='*'; §@x=a.go y=b.go; cat $x $y@read -r x < names.txt; §@ls | sort | §@§ |& &&&@§ >&2@§ 2>&1 >/dev/null@§ &> new.txt@2>&1 §@> new.txt §@§ <in`, "@")
}
