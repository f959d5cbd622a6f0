package policy

import (
	"path"
	"regexp"
	"strings"
	"sync"
)

// What this file lists is for denies, which look behind the programs that start others; an allow
// rule reads nothing out of it but that they do. Where versions of a program differ, the wider
// reading stands here.

func base(program string) string { return path.Base(program) }

func oneOf(name, list string) bool {
	for word := range strings.FieldsSeq(list) {
		if word == name {
			return true
		}
	}
	return false
}

func isShell(name string) bool {
	return oneOf(name, "sh bash dash zsh ksh ash mksh fish rbash csh tcsh yash posh lksh elvish nu pwsh xonsh")
}

// isBuiltin lists builtins that change what later text means or run text; a rule never allows them.
func isBuiltin(name string) bool {
	return oneOf(name, "eval exec source . trap alias unalias enable hash command builtin printf test [ read mapfile readarray "+
		"declare typeset local export readonly let complete compopt compgen bind set shopt unset coproc fc history jobs wait getopts "+
		"pushd popd")
}

// wrapper reports whether a program starts the one that is among its arguments, and how many words
// beside options may come before that one.
func wrapper(name string) (words int, ok bool) {
	switch {
	case oneOf(name, "env nice nohup stdbuf setsid time gtime command builtin exec jobs xargs gxargs sudo doas run0 pkexec ionice busybox toybox "+
		"unshare caffeinate setpriv systemd-run systemd-inhibit strace ltrace valgrind fakeroot unbuffer rlwrap xvfb-run "+
		"dbus-run-session dbus-launch torsocks torify proxychains proxychains4 numactl cpulimit entr ssh-agent watch hyperfine "+
		"npx pnpx bunx uvx nodemon watchexec concurrently eatmydata prlimit nsenter linux64 linux32 i386 x86_64 parallel sem "+
		"catchsegv uname26 mpirun mpiexec orterun srun salloc tini dumb-init dotenv cross-env cgexec env-cmd libtool coproc ! if then else elif while until do {"):
		return 0, true
	case oneOf(name, "timeout gtimeout logsave flock chroot taskset chrt choom envdir setuidgid softlimit chpst ssh autossh schroot setarch gosu su-exec"):
		return 1, true
	}
	return 0, strings.HasPrefix(name, "ld-linux") || strings.HasPrefix(name, "ld.so") || strings.HasPrefix(name, "ld-musl")
}

// runsAnyWord lists programs whose options and words are texts or programs in so many places that
// each is tried.
func runsAnyWord(name string) bool {
	return oneOf(name, "su runuser sg script flock bwrap firejail proot gdb lldb screen tmux expect at batch trap watch parallel sem "+
		"hash enable fc complete compgen bind mapfile readarray history nc ncat socat command exec builtin jobs "+
		"start-stop-daemon nix-shell run-parts mosh dbus-send xterm ed ex vi vim nvim view emacs")
}

// launcher finds the program behind a subcommand: docker exec NAME rm. At is where what follows the
// subcommand begins.
func launcher(program string, args []word) (at, skip int, ok bool) {
	seen := 0
	for i, a := range args {
		if !a.known || strings.HasPrefix(a.text, "-") {
			continue
		}
		if seen++; seen > 4 {
			break
		}
		switch key := program + " " + a.text; {
		case oneOf(program, "docker podman nerdctl kubectl oc lxc incus machinectl flatpak snap ip chamber aws-vault direnv rustup toolbox distrobox perf") &&
			oneOf(a.text, "run exec create debug rsh shell record stat trace"):
			return i + 1, 1, true
		case oneOf(program, "npm pnpm yarn bun bundle uv pipenv poetry pdm hatch rye conda mamba micromamba mise rtx asdf op doppler dotenvx rbenv pyenv nodenv nix guix jj devbox pixi tox heroku railway vagrant") &&
			oneOf(a.text, "exec x dlx run tool shell develop ssh"), key == "git run" && seen > 1, key == "git foreach", key == "cmake env", key == "cmake time":
			return i + 1, 0, true
		}
	}
	return 0, 0, false
}

// namesProgram lists options whose value is a program or a command line.
func namesProgram(program, option string) bool {
	if oneOf(option, "-exec -execdir -ok -okdir --exec --exec-batch -toolexec -vettool --pre --hostname-bin --to-command --checkpoint-action "+
		"--use-compress-program --rsh-command --info-script --new-volume-script --rmt-command --compress-program --compress-prog --rsh "+
		"--rsync-path --filter --entrypoint --post-renderer --script-shell --pager --editor --extcmd --upload-pack --receive-pack "+
		"--open-files-in-pager --command --session-command --call --eval --cmd --sh-exec --lua-exec --execute --split-string --unzip-command "+
		"--use-askpass --pre-invoke --post-invoke --wrap --run --init-file --rcfile --tree-filter --index-filter --msg-filter --env-filter "+
		"--commit-filter --parent-filter --tag-name-filter --subdirectory-filter --with-shell --tool --args --diff-cmd --diff3-cmd --editor-cmd --strip-program") {
		return true
	}
	switch {
	case program == "tar", program == "gtar", program == "bsdtar":
		return oneOf(option, "-I -F")
	case program == "env":
		return oneOf(option, "-S -iS -vS -0S -viS -ivS -i0S") || strings.HasPrefix(option, "-S")
	case oneOf(program, "rsync nc ncat xterm ex vim git"):
		return oneOf(option, "-e -c -x -O -u")
	case oneOf(program, "man tcpdump fd fdfind scp sftp zip ssh perf gdb psql npm npx nix-shell"):
		return oneOf(option, "-P -z -x -X -S -TT -o -H -ex -c")
	case oneOf(program, "watch entr su runuser sg flock script mapfile readarray complete compgen"):
		return oneOf(option, "-c -C -s -x -qc -qec -ec -lc")
	}
	return false
}

// quietWords lists programs that take all kinds of text and run none of it.
func quietWords(name string) bool {
	return oneOf(name, "echo printf grep egrep fgrep rg ag ack git gh glab jq yq test [ true false ls cat head tail wc diff cmp cut tr "+
		"uniq basename dirname touch mkdir logger notify-send tee expr date seq sleep which type curl http go cargo pytest jest vitest "+
		"cd pwd sed awk gawk mawk python python3 perl ruby node php lua deno cp mv ln chmod stat file realpath adze")
}

// printsInput lists programs beside those that take their input for text alone.
func printsInput(name string) bool {
	return oneOf(name, "sort base64 base32 xxd od hexdump column paste join fold fmt nl tac rev shuf comm tsort iconv md5sum sha1sum sha256sum sha512sum "+
		"b2sum cksum openssl gpg patch bc gofmt goimports prettier black rustfmt clang-format xclip pbcopy xsel wl-copy less more read mapfile readarray")
}

// interpreter reports a program that runs code in a language that is not read here, and the options
// before that code.
func interpreter(name string) (options string, ok bool) {
	for _, kind := range []struct{ start, options string }{
		{"python", "-c"}, {"pypy", "-c"}, {"perl", "-e -E -ne -pe -nle -ple -lne -pi -i -le -we -M -x -ni"}, {"ruby", "-e -ne -pe -r"}, {"node", "-e -p --eval --print -pe -r --require"},
		{"bun", "-e --eval"}, {"deno", "eval"}, {"php", "-r -B -R -E"}, {"lua", "-e"}, {"tclsh", "-c"}, {"osascript", "-e"}, {"Rscript", "-e"}, {"julia", "-e -E"}, {"guile", "-c"}, {"elixir", "-e"}, {"ghc", "-e"},
	} {
		if strings.HasPrefix(name, kind.start) && strings.Trim(name[len(kind.start):], "0123456789.-wjit") == "" {
			return kind.options, true
		}
	}
	if oneOf(name, "awk gawk mawk nawk original-awk") {
		return "", true
	}
	return "", false
}

// startsInCode finds what code of the usual languages needs to start a program, or to hide that it
// does.
var startsInCode = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("`|\\b(system|popen\\w*|p?exec\\w*|p?spawn\\w*|posix_spawn\\w*|subprocess|pty|ctypes|cffi|importlib|runpy|multiprocessing|asyncio|v?fork\\w*|" +
		"eval|compile|getattr|globals|locals|vars|builtins|child_process|qx|passthru|shell_exec|proc_open|pcntl\\w*|Function|constructor|binding|syscall|" +
		"loadstring|dlopen|Open3|open3|Kernel|send|__\\w+|shell|run|cmd|getline|do shell script|ccall|sh)\\b|\\||\\bopen\\s*\\(?[^)]*-|%x|\\\\x|\\\\u|\\\\0|chr\\b|fromCharCode|decode|pack\\b|:!")
})

// runsInSed finds the command e and the flag e of GNU sed, which run what stands behind them or
// what they made.
var runsInSed = sync.OnceValue(func() *regexp.Regexp {
	const address = `(\d+(~\d+)?|\$|/[^/\n]*/[IM]*|\\.[^\n]*)`
	return regexp.MustCompile(`(?s)(^|[;{}\n])\s*(` + address + `\s*(,\s*[+~]?` + address + `)?)?[\s!]*e|s([^\w\s]).*[^\w\s][gpiImM0-9]*e[gpiImM0-9]*(\s|;|}|#|$)`)
})

// lasting reports whether a user may allow a command for the whole session: not when what it runs
// is named, written or fetched elsewhere.
func lasting(s simple) bool {
	name := base(s.name())
	for _, interpreter := range []string{"python", "ruby", "perl", "node", "php", "lua"} { // also python3.13
		if strings.HasPrefix(name, interpreter) {
			return false
		}
	}
	if len(s.words) > 1 && oneOf(name, "npm pnpm yarn") && oneOf(s.words[1].text, "exec x dlx create init") {
		return false
	}
	// A rule that begins with mcp: is about a server.
	return !startsPrograms(s) && !isBuiltin(name) && !strings.HasPrefix(s.name(), serverPrefix) &&
		!oneOf(name, "npx pnpx bunx bun deno uv uvx pipx tclsh awk gawk mawk osascript powershell pwsh pkexec ssh")
}
