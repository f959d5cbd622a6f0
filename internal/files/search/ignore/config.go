package ignore

import (
	"path/filepath"
	"strings"
)

// maxIncludes bounds nested includes in configuration files.
const maxIncludes = 5

// excludesFile returns the path of core.excludesFile for the repository at top with the common git
// directory: the last value in the system, user and repository configuration, or the default path.
func (f Finder) excludesFile(top, common string) string {
	c := f.personConfig()
	if common != "" {
		c.read(f.openPath(filepath.Join(common, "config")), 0)
	}
	if c.set {
		if c.value == "" {
			return ""
		}
		return under(top, f.expandHome(c.value))
	}
	return f.userFile("ignore")
}

func (f Finder) personConfig() config {
	if f.UserConfig == nil {
		c := config{finder: f}
		for _, path := range f.configFiles() {
			c.read(path, 0)
		}
		return c
	}
	f.UserConfig.once.Do(func() { f.UserConfig.config = Finder{Env: f.Env}.personConfig() })
	return f.UserConfig.config
}

// configFiles returns the system and user configuration files, lowest precedence first.
func (f Finder) configFiles() []string {
	var files []string
	if f.env("GIT_CONFIG_NOSYSTEM") == "" {
		system := f.env("GIT_CONFIG_SYSTEM")
		if system == "" {
			system = "/etc/gitconfig"
		}
		files = append(files, system)
	}
	if global := f.env("GIT_CONFIG_GLOBAL"); global != "" {
		files = append(files, global)
	} else {
		files = append(files, f.userFile("config"), f.expandHome("~/.gitconfig"))
	}
	return files
}

func (f Finder) userFile(name string) string {
	if dir := f.env("XDG_CONFIG_HOME"); dir != "" {
		return filepath.Join(dir, "git", name)
	}
	return f.expandHome("~/.config/git/" + name)
}

// expandHome replaces a leading "~/". Without a home folder it returns "", which names no file.
func (f Finder) expandHome(path string) string {
	rest, ok := strings.CutPrefix(path, "~/")
	if !ok {
		return path
	}
	home := f.env("HOME")
	if home == "" {
		return ""
	}
	return filepath.Join(home, rest)
}

// config collects the one needed value from git configuration files.
type config struct {
	finder Finder
	value  string
	set    bool
}

func (c *config) read(path string, depth int) {
	if path == "" || depth > maxIncludes {
		return
	}
	section := ""
	for _, line := range logicalLines(string(readFile(path))) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section, line = cutSection(line)
		}
		key, raw, found := strings.Cut(line, "=")
		if !found {
			continue
		}
		switch section + "." + strings.ToLower(strings.TrimSpace(key)) {
		case "core.excludesfile":
			c.value, c.set = unquote(raw), true
		case "include.path":
			to := c.finder.expandHome(unquote(raw))
			c.read(under(filepath.Dir(path), to), depth+1)
		}
	}
}

// logicalLines joins lines that end in an unescaped backslash with the next.
func logicalLines(text string) []string {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	var lines []string
	part := ""
	for line := range strings.SplitSeq(text, "\n") {
		part += line
		slashes := len(part) - len(strings.TrimRight(part, `\`))
		if slashes%2 == 1 {
			part = part[:len(part)-1]
			continue
		}
		lines = append(lines, part)
		part = ""
	}
	return lines
}

// cutSection cuts "[name]" or `[name "sub"]` off a line. It returns the section's key in lower case
// and the remaining line.
func cutSection(line string) (section, rest string) {
	inQuotes := false
	for i := 1; i < len(line); i++ {
		switch {
		case line[i] == '\\' && inQuotes:
			i++
		case line[i] == '"':
			inQuotes = !inQuotes
		case line[i] == ']' && !inQuotes:
			return strings.ToLower(strings.TrimSpace(line[1:i])), strings.TrimSpace(line[i+1:])
		}
	}
	return "", ""
}

// unquote parses a configuration value with quotes, escapes, and comments outside quotes.
func unquote(raw string) string {
	var out strings.Builder
	inQuotes, kept := false, 0
	raw = strings.TrimSpace(raw)
scan:
	for i := 0; i < len(raw); i++ {
		switch b := raw[i]; {
		case b == '"':
			inQuotes = !inQuotes
			kept = out.Len()
			continue
		case (b == '#' || b == ';') && !inQuotes:
			break scan
		case b == '\\' && i+1 < len(raw):
			i++
			out.WriteByte(escaped(raw[i]))
		default:
			out.WriteByte(b)
		}
		if inQuotes || (raw[i] != ' ' && raw[i] != '\t') {
			kept = out.Len()
		}
	}
	return out.String()[:kept]
}

func escaped(b byte) byte {
	switch b {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'b':
		return '\b'
	}
	return b
}
