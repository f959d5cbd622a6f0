package prompts

import "strings"

// Section is a part of a rendered system prompt.
type Section struct {
	Kind  string // "prompt", "instructions", "agents" or "environment"
	Name  string // "prompt", "environment", "agents", "you are the agent …", or the path of an instruction file
	Bytes int
}

// Split tells the parts of a system prompt apart, in their order; together they are all of it. It
// goes by the lines that Render writes, so that it can read what an older session kept: a file that
// holds such a line itself counts as two, and an appended text counts with what stands before it.
func Split(system string) []Section {
	var out []Section
	add := func(kind, name string, bytes int) {
		if bytes > 0 {
			out = append(out, Section{kind, name, bytes})
		}
	}
	rest, environment := system, ""
	if i := strings.LastIndex(system, environmentMark); i >= 0 {
		rest, environment = system[:i], system[i:]
	}
	rest, inserted := uninserted(rest)
	skills := ""
	if i := strings.LastIndex(rest, "\n"+SkillsHead+"\n"); i >= 0 {
		rest, skills = rest[:i], rest[i:]
	}
	prompt, files, found := strings.Cut(rest, instructionsMark)
	add("prompt", "prompt", len(prompt))
	if found {
		for file := range strings.SplitSeq(files, instructionsMark) {
			path, _, _ := strings.Cut(file, "\n")
			add("instructions", path, len(instructionsMark)+len(file))
		}
	}
	add("skills", "skills", len(skills))
	for _, part := range inserted {
		name, _, _ := strings.Cut(strings.TrimPrefix(part, "\n# "), "\n")
		add("agents", strings.ToLower(name[:1])+name[1:], len(part))
	}
	add("environment", "environment", len(environment))
	return out
}

// Part is the text of the first part with this name.
func Part(system, name string) (text string, ok bool) {
	at := 0
	for _, s := range Split(system) {
		if s.Name == name {
			return system[at : at+s.Bytes], true
		}
		at += s.Bytes
	}
	return "", false
}

// uninserted takes the parts off that Insert put behind the rest.
func uninserted(rest string) (before string, parts []string) {
	for {
		at := -1
		for _, mark := range []string{AgentsPart, LeadPart} {
			at = max(at, strings.LastIndex(rest, "\n# "+mark))
		}
		if at < 0 {
			return rest, parts
		}
		rest, parts = rest[:at], append([]string{rest[at:]}, parts...)
	}
}
