//go:build unix

package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"adze/internal/osfile/atomicfile"
	"adze/internal/text/redact"
)

// settingFiles are the settings of tools in a home. Commands get a copy of each, without what is
// secret in it.
func settingFiles() []string {
	return []string{
		".npmrc", ".yarnrc", ".yarnrc.yml", ".config/pnpm/rc", ".config/pnpm/config.yaml", ".bunfig.toml", ".config/go/env", ".cargo/config.toml", ".cargo/config", ".config/rustfmt/rustfmt.toml", ".rustfmt.toml",
		".config/pip/pip.conf", ".pip/pip.conf", ".config/uv/uv.toml", ".config/pypoetry/config.toml", ".pydistutils.cfg", ".condarc", ".m2/settings.xml", ".m2/toolchains.xml", ".mavenrc",
		".nuget/NuGet/NuGet.Config", ".gemrc", ".bundle/config", ".config/ccache/ccache.conf", ".tool-versions", ".asdfrc", ".nvmrc", ".node-version", ".python-version", ".ruby-version", ".java-version",
		".config/mise/config.toml", ".editorconfig", ".clang-format", ".bazelrc", ".inputrc", ".config/git/ignore", ".config/git/attributes",
	}
}

// maxSettings bounds a file of settings, in bytes.
const maxSettings = 1 << 20

// settings shows copies of the settings of tools, and of git's.
func (v *viewer) settings() {
	at := v.sandbox.o.Home
	if at == "" {
		return
	}
	for _, path := range present(v.plan.glance, at, settingFiles()) {
		v.copy(path)
	}
	for _, path := range []string{v.plan.lookup("PIP_CONFIG_FILE"), v.plan.lookup("NPM_CONFIG_USERCONFIG"), v.plan.lookup("npm_config_userconfig"), v.plan.lookup("GOENV")} {
		if v.inHollow(path) {
			v.copy(path)
		}
	}
	v.gitSettings()
}

// copy shows a copy of a file at its path.
func (v *viewer) copy(path string) {
	real, ok := v.plan.glance.Real(path)
	if !ok || !v.plan.glance.Mark(real).Is(unix.S_IFREG) || !v.covered(path) {
		return
	}
	v.note(real)
	v.note(filepath.Dir(real))
	if from := copyOf(v.sandbox.o.State, real); from != "" {
		v.place(path, from)
	}
}

// place shows a file of ours at a path, whatever link the host has there.
func (v *viewer) place(path, from string) bool {
	dir := filepath.Dir(path)
	v.way(dir)
	if real, ok := v.plan.glance.Real(dir); ok {
		path = filepath.Join(real, filepath.Base(path))
	}
	if !v.covered(path) {
		return false
	}
	v.shown = append(v.shown, visiblePath{path: path, from: from})
	return true
}

// copyOf is the copy of a file; empty where there can be none.
func copyOf(state, path string) string {
	info, err := os.Stat(path)
	if err != nil || info.Size() > maxSettings {
		return ""
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return keepCopy(state, withoutSecrets(string(data)))
}

// keepCopy writes a text to a file that is named after it.
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

// secretElements finds parts of XML files that hold names and passwords: of Maven and NuGet.
var secretElements = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?is)<servers\b.*?</servers>|<packageSourceCredentials\b.*?</packageSourceCredentials>|<apikeys\b.*?</apikeys>|<(password|passphrase|privateKey)>.*?</(password|passphrase|privateKey)>`)
})

// userInAddress finds who an address is asked as.
var userInAddress = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`://[^/\s"'@]+@`) })

func withoutUser(text string) string { return userInAddress().ReplaceAllString(text, "://") }

// withoutSecrets is a file of settings without the lines and parts that hold secrets.
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

// valueSign is what stands between a name and its value: of YAML a colon, else an equals sign.
func valueSign(line string) string {
	equals, colon := strings.IndexByte(line, '='), strings.Index(line, ": ")
	if colon >= 0 && (equals < 0 || colon < equals) {
		return ": "
	}
	return "="
}

// secretSetting reports the name of a setting whose values are secrets, or say who somebody is.
func secretSetting(name string) bool {
	name = strings.ToLower(strings.Trim(strings.TrimSpace(name), `"'`))
	name = name[strings.LastIndexAny(name, ":./")+1:]
	return redact.Name(name) || name == "username" || name == "email"
}

func holdsSecret(text string) bool { return len(redact.New().Spans(text)) > 0 }

// gitSettings shows the user's configuration of git as it holds in the workspace, by value and
// without what gives credentials, and the files that it names.
func (v *viewer) gitSettings() {
	at := v.plan.lookup("GIT_CONFIG_GLOBAL")
	if at == "" {
		at = filepath.Join(v.sandbox.o.Home, ".gitconfig")
	}
	other := filepath.Join(v.sandbox.o.Home, ".config", "git", "config")
	if dir := v.plan.lookup("XDG_CONFIG_HOME"); dir != "" {
		other = filepath.Join(dir, "git", "config")
	}
	for _, path := range []string{at, other, filepath.Join(v.plan.workspace.path, ".git", "HEAD")} {
		v.note(path) // of the included files those count that belong to a branch
	}
	if v.plan.glance.Mark(at).Err != nil && v.plan.glance.Mark(other).Err != nil || !v.covered(at) {
		return
	}
	text, files, err := v.gitConfig()
	if err != nil {
		return
	}
	from := keepCopy(v.sandbox.o.State, text)
	if from == "" {
		return
	}
	if v.place(at, from) {
		v.shown[len(v.shown)-1].git = true
	}
	for _, file := range files {
		v.show(file)
	}
}

// gitConfig asks git what the user has configured, and for the files that the settings name.
func (v *viewer) gitConfig() (text string, files []string, err error) {
	fields, err := gitList(v.plan.workspace.path, v.plan.command.Env, "--global")
	if err != nil {
		return "", nil, err
	}
	var out strings.Builder
	for i := 0; i+1 < len(fields); i += 2 {
		if file, ok := strings.CutPrefix(fields[i], "file:"); ok && filepath.IsAbs(file) {
			v.note(file)
		}
		key, value, has := strings.Cut(fields[i+1], "\n")
		section, name, sub, ok := splitKey(key)
		if !ok || slices.Contains([]string{"credential", "include", "includeif"}, section) || name == "extraheader" || secretSetting(name) && section != "user" {
			continue
		}
		if sub, value = withoutUser(sub), withoutUser(value); holdsSecret(sub) || holdsSecret(value) {
			continue
		}
		out.WriteString(gitSetting(section, sub, name, value, has))
		if path := gitFile(section+"."+name, value, v.sandbox.o.Home); path != "" {
			files = append(files, path)
		}
	}
	return out.String(), files, nil
}

// splitKey takes a name of a setting apart, as git lists it.
func splitKey(key string) (section, name, sub string, ok bool) {
	first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.')
	if first < 0 {
		return "", "", "", false
	}
	if section, name = strings.ToLower(key[:first]), strings.ToLower(key[last+1:]); first < last {
		sub = key[first+1 : last]
	}
	return section, name, sub, true
}

// gitSetting writes one setting as git reads it.
func gitSetting(section, sub, name, value string, has bool) string {
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\b", `\b`)
	head := "[" + section + "]\n"
	if sub != "" {
		head = "[" + section + ` "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(sub) + "\"]\n"
	}
	if !has {
		return head + "\t" + name + "\n"
	}
	return head + "\t" + name + ` = "` + quote.Replace(value) + "\"\n"
}

// gitFile is the file or folder that a setting names, of those that git reads or runs itself.
func gitFile(key, value, home string) string {
	if !slices.Contains([]string{"core.excludesfile", "core.attributesfile", "core.hookspath", "commit.template", "init.templatedir", "blame.ignorerevsfile", "mailmap.file", "gpg.ssh.allowedsignersfile", "gpg.allowedsignersfile"}, key) {
		return ""
	}
	if rest, ok := strings.CutPrefix(value, "~/"); ok {
		value = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(value) {
		return ""
	}
	return value
}
