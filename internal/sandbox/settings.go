//go:build unix

package sandbox

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"adze/internal/osfile/atomicfile"
	"adze/internal/text/redact"
)

// settingFiles lists the tools' settings files in a home. Commands get copies without secrets.
func settingFiles() []string {
	return []string{
		".npmrc", ".yarnrc", ".yarnrc.yml", ".config/pnpm/rc", ".config/pnpm/config.yaml", ".bunfig.toml", ".config/go/env", ".cargo/config.toml", ".cargo/config", ".config/rustfmt/rustfmt.toml", ".rustfmt.toml",
		".config/pip/pip.conf", ".pip/pip.conf", ".config/uv/uv.toml", ".config/pypoetry/config.toml", ".pydistutils.cfg", ".condarc", ".m2/settings.xml", ".m2/toolchains.xml", ".mavenrc",
		".nuget/NuGet/NuGet.Config", ".gemrc", ".bundle/config", ".config/ccache/ccache.conf", ".tool-versions", ".asdfrc", ".nvmrc", ".node-version", ".python-version", ".ruby-version", ".java-version",
		".config/mise/config.toml", ".editorconfig", ".clang-format", ".bazelrc", ".inputrc", ".config/git/ignore", ".config/git/attributes",
	}
}

// in bytes
const maxSettings = 1 << 20

func (v *viewer) settings() {
	paths := present(v.sandbox.o.Home, settingFiles())
	for _, name := range []string{"PIP_CONFIG_FILE", "NPM_CONFIG_USERCONFIG", "npm_config_userconfig", "GOENV"} {
		paths = append(paths, v.plan.lookup(name))
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || info.Size() > maxSettings || !v.covered(path) {
			continue
		}
		if data, err := os.ReadFile(path); err == nil {
			v.place(path, withoutSecrets(string(data)), false)
		}
	}
	v.gitSettings()
}

// place shows text as a file at path, regardless of links on the host.
func (v *viewer) place(path, text string, git bool) {
	dir := filepath.Dir(path)
	v.way(dir)
	if real, ok := realOf(dir); ok {
		path = filepath.Join(real, filepath.Base(path))
	}
	if from := keepCopy(v.sandbox.o.State, text); from != "" && v.covered(path) {
		v.visiblePaths = append(v.visiblePaths, visiblePath{path: path, copyPath: from, git: git})
	}
}

// keepCopy writes text to a file named by its hash.
func keepCopy(state, text string) string {
	sum := sha256.Sum256([]byte(text))
	path := filepath.Join(state, "sandbox", "settings", hex.EncodeToString(sum[:12]))
	if info, err := os.Stat(path); err == nil && info.Size() == int64(len(text)) {
		return path
	}
	if os.MkdirAll(filepath.Dir(path), 0o700) != nil || atomicfile.WriteCache(path, []byte(text)) != nil {
		return ""
	}
	return path
}

// secretElements matches XML elements with names and passwords, as in Maven and NuGet files.
var secretElements = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?is)<servers\b.*?</servers>|<packageSourceCredentials\b.*?</packageSourceCredentials>|<apikeys\b.*?</apikeys>|<(password|passphrase|privateKey)>.*?</(password|passphrase|privateKey)>`)
})

// userInAddress matches the user part of an address.
var userInAddress = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`://[^/\s"'@]+@`) })

func withoutUser(text string) string { return userInAddress().ReplaceAllString(text, "://") }

func withoutSecrets(text string) string {
	var out strings.Builder
	for line := range strings.Lines(secretElements().ReplaceAllString(text, "")) {
		line = withoutUser(line)
		if name, _, _ := strings.Cut(line, valueSign(line)); !secretSetting(name) && !holdsSecret(line) {
			out.WriteString(line)
		}
	}
	return out.String()
}

// valueSign returns the separator of name and value: a colon for YAML, else an equals sign.
func valueSign(line string) string {
	equals, colon := strings.IndexByte(line, '='), strings.Index(line, ": ")
	if colon >= 0 && (equals < 0 || colon < equals) {
		return ": "
	}
	return "="
}

// secretSetting reports whether a setting's values are secrets or identify somebody.
func secretSetting(name string) bool {
	name = strings.ToLower(strings.Trim(strings.TrimSpace(name), `"'`))
	name = name[strings.LastIndexAny(name, ":./")+1:]
	return redact.Name(name) || name == "username" || name == "email"
}

func holdsSecret(text string) bool { return len(redact.New().Spans(text)) > 0 }

// gitSettings shows the user's git configuration as it applies in the workspace, with values
// resolved and without credentials, and the files that it names.
func (v *viewer) gitSettings() {
	at := cmp.Or(v.plan.lookup("GIT_CONFIG_GLOBAL"), filepath.Join(v.sandbox.o.Home, ".gitconfig"))
	other := filepath.Join(cmp.Or(v.plan.lookup("XDG_CONFIG_HOME"), filepath.Join(v.sandbox.o.Home, ".config")), "git", "config")
	if !exists(at) && !exists(other) || !v.covered(at) {
		return
	}
	fields, err := gitList(v.plan.workspace.path, v.plan.command.Env, "--global")
	if err != nil {
		return
	}
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\b", `\b`)
	var out strings.Builder
	var files []string
	for i := 1; i < len(fields); i += 2 { // each value follows its file
		key, value, has := strings.Cut(fields[i], "\n")
		section, rest, _ := strings.Cut(key, ".")
		sub, name := "", rest
		if at := strings.LastIndexByte(rest, '.'); at >= 0 {
			sub, name = rest[:at], rest[at+1:]
		}
		sub, value = withoutUser(sub), withoutUser(value)
		if slices.Contains([]string{"credential", "include", "includeif"}, section) || name == "extraheader" || secretSetting(name) && section != "user" || holdsSecret(sub) || holdsSecret(value) {
			continue
		}
		head := section
		if sub != "" {
			head += ` "` + quote.Replace(sub) + `"`
		}
		fmt.Fprintf(&out, "[%s]\n\t%s", head, name)
		if has {
			fmt.Fprintf(&out, " = \"%s\"", quote.Replace(value))
		}
		out.WriteByte('\n')
		if slices.Contains([]string{"core.excludesfile", "core.attributesfile", "core.hookspath", "commit.template", "init.templatedir", "blame.ignorerevsfile", "mailmap.file", "gpg.ssh.allowedsignersfile", "gpg.allowedsignersfile"}, section+"."+name) {
			if rest, ok := strings.CutPrefix(value, "~/"); ok {
				value = filepath.Join(v.sandbox.o.Home, rest)
			}
			files = append(files, value)
		}
	}
	v.place(at, out.String(), true)
	for _, file := range files {
		v.show(file)
	}
}
