package prompts

import "strings"

// A Section is one part of a rendered prompt.
type Section struct {
	Kind  string // "prompt", "instructions", "agents" or "environment"
	Name  string // "prompt", "environment", "agents", "you are the agent …", or an instruction file's path
	Bytes int
}

// Split splits a system prompt into its parts; joined, they are equal to it. It relies on the lines
// that Render writes, so it also works for older sessions: a file that contains such a line counts
// as two, and appended text counts with the part before it.
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

// Part returns the text in the first part with a name.
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

// uninserted splits off the parts added by Insert.
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
