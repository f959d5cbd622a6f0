package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"adze/internal/run"
)

// commonFiles returns the files in every archive: documents, man pages and completions.
func (r Release) commonFiles() ([]File, error) {
	var out []File
	documents, err := filepath.Glob("docs/*.md")
	if err != nil {
		return nil, err
	}
	for _, name := range append([]string{"LICENSE", "README.md", "CHANGELOG.md", "SECURITY.md"}, documents...) {
		raw, err := os.ReadFile(filepath.FromSlash(name))
		if err != nil {
			return nil, fmt.Errorf("%w (the release is made in the root of the checkout)", err)
		}
		out = append(out, File{Name: filepath.ToSlash(name), Mode: 0o644, Data: raw})
	}
	root := run.CommandLine()
	pages, err := r.manPages(root)
	if err != nil {
		return nil, err
	}
	scripts, err := completions(root)
	return slices.Concat(out, pages, scripts), err
}

// manPages returns a page for each command, in section 1.
func (r Release) manPages(root *cobra.Command) ([]File, error) {
	root.InitDefaultHelpCmd()
	root.DisableAutoGenTag = true
	head := doc.GenManHeader{Section: "1", Source: "adze " + r.Version, Manual: "adze", Date: &r.Time}
	var out []File
	var failed error
	walk(root, func(c *cobra.Command) {
		var page bytes.Buffer
		h := head
		h.Title = strings.ToUpper(strings.ReplaceAll(c.CommandPath(), " ", "-"))
		if err := doc.GenMan(c, &h, &page); err != nil && failed == nil {
			failed = err
		}
		out = append(out, File{Name: "man/" + strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1", Mode: 0o644, Data: page.Bytes()})
	})
	return out, failed
}

func completions(root *cobra.Command) ([]File, error) {
	makers := []struct {
		name string
		make func(*bytes.Buffer) error
	}{
		{"adze.bash", func(b *bytes.Buffer) error { return root.GenBashCompletionV2(b, true) }},
		{"_adze", func(b *bytes.Buffer) error { return root.GenZshCompletion(b) }},
		{"adze.fish", func(b *bytes.Buffer) error { return root.GenFishCompletion(b, true) }},
		{"adze.ps1", func(b *bytes.Buffer) error { return root.GenPowerShellCompletionWithDesc(b) }},
	}
	var out []File
	for _, m := range makers {
		var text bytes.Buffer
		if err := m.make(&text); err != nil {
			return nil, err
		}
		out = append(out, File{Name: "completions/" + m.name, Mode: 0o644, Data: text.Bytes()})
	}
	return out, nil
}

// walk calls do for each visible command, parents first.
func walk(c *cobra.Command, do func(*cobra.Command)) {
	do(c)
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" && !sub.IsAdditionalHelpTopicCommand() {
			walk(sub, do)
		}
	}
}

func writeReference(dir string) error {
	commands := commandReference(run.CommandLine())
	if err := os.WriteFile(filepath.Join(dir, "commands.md"), commands, 0o644); err != nil {
		return err
	}
	raw, err := os.ReadFile(filepath.FromSlash("internal/config/schema.json"))
	if err != nil {
		return fmt.Errorf("%w (run this in the root of the checkout)", err)
	}
	page, err := os.ReadFile(filepath.Join("docs", "settings.md"))
	if err != nil {
		return err
	}
	settings, err := settingsReference(page, raw)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "settings.md"), settings, 0o644)
}

// commandReference returns one page with all commands and flags.
func commandReference(root *cobra.Command) []byte {
	var out bytes.Buffer
	out.WriteString("# Commands\n\nThis page is made from the program: `go run ./internal/tools/release -reference docs`.\n`adze COMMAND --help` shows the same.\n")
	walk(root, func(c *cobra.Command) {
		fmt.Fprintf(&out, "\n## %s\n\n%s.\n\n`%s`\n", c.CommandPath(), strings.TrimSuffix(c.Short, "."), c.UseLine())
		if long := strings.TrimSpace(strings.TrimPrefix(c.Long, c.Short)); long != "" {
			fmt.Fprintf(&out, "\n%s\n", wrap(strings.TrimPrefix(long, ".\n\n")))
		}
		if c.Example != "" {
			out.WriteString("\n")
			for line := range strings.SplitSeq(strings.Trim(c.Example, "\n"), "\n") {
				out.WriteString(strings.TrimRight("    "+strings.TrimPrefix(line, "  "), " ") + "\n")
			}
		}
		var rows []string
		c.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden || f.Name == "help" {
				return
			}
			value, usage := pflag.UnquoteUsage(f)
			name := "--" + f.Name
			if value != "" {
				name += " " + value
			}
			if f.Shorthand != "" {
				name = "-" + f.Shorthand + ", " + name
			}
			if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "[]" && f.DefValue != "0" && f.DefValue != "0s" {
				usage += " (default " + f.DefValue + ")"
			}
			rows = append(rows, fmt.Sprintf("| `%s` | %s |\n", name, cell(usage)))
		})
		if len(rows) > 0 {
			out.WriteString("\n| flag | |\n|---|---|\n" + strings.Join(rows, ""))
		}
	})
	return out.Bytes()
}

// wrap fills paragraphs to 100 columns. Lines that begin with a space stay.
func wrap(text string) string {
	const width = 100
	var out []string
	fresh := true // the next word begins a line
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" || strings.HasPrefix(line, " ") {
			out, fresh = append(out, strings.TrimRight(line, " ")), true
			continue
		}
		for word := range strings.FieldsSeq(line) {
			if last := len(out) - 1; !fresh && len(out[last])+1+len(word) <= width {
				out[last] += " " + word
			} else {
				out = append(out, word)
			}
			fresh = false
		}
	}
	return strings.Join(out, "\n")
}

func cell(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\n", " "), "|", "\\|")
}

// setting is the used part of the schema. JSON is YAML, whose nodes keep the order of names.
type setting struct {
	Type        any
	Description string
	Default     any
	Enum        []any
	Properties  yaml.Node
	Additional  yaml.Node `yaml:"additionalProperties"`
	Items       *setting
	Ref         string             `yaml:"$ref"`
	Defs        map[string]setting `yaml:"$defs"`
}

// settingsReference returns the page with all configuration names in its last section.
func settingsReference(page, schema []byte) ([]byte, error) {
	const heading = "\n## Every setting\n"
	before, _, found := bytes.Cut(page, []byte(heading))
	if !found {
		return nil, fmt.Errorf("docs/settings.md has no section %q", strings.TrimSpace(heading))
	}
	var root setting
	if err := yaml.Unmarshal(schema, &root); err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	var out bytes.Buffer
	out.Write(before)
	out.WriteString(heading + "\nThis table is made from the schema: `go run ./internal/tools/release -reference docs`.\n`NAME` stands for a name that you choose.\n\n| setting | value | |\n|---|---|---|\n")
	if err := settingRows(&out, root.Defs, "", root); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func settingRows(out *bytes.Buffer, defs map[string]setting, path string, s setting) error {
	if name, found := strings.CutPrefix(s.Ref, "#/$defs/"); found {
		to, known := defs[name]
		if !known {
			return fmt.Errorf("%s: the schema has no %s", path, s.Ref)
		}
		to.Description = cmp.Or(s.Description, to.Description)
		s = to
	}
	if path != "" && s.Description != "" {
		fmt.Fprintf(out, "| `%s` | %s | %s |\n", path, cell(values(s)), cell(s.Description))
	}
	for pair := range slices.Chunk(s.Properties.Content, 2) {
		var part setting
		if err := pair[1].Decode(&part); err != nil {
			return fmt.Errorf("%s.%s: %w", path, pair[0].Value, err)
		}
		if err := settingRows(out, defs, strings.TrimPrefix(path+"."+pair[0].Value, "."), part); err != nil {
			return err
		}
	}
	var named setting
	if s.Additional.Kind == yaml.MappingNode {
		if err := s.Additional.Decode(&named); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	if !named.Properties.IsZero() || named.Ref != "" {
		return settingRows(out, defs, path+".NAME", named)
	}
	if s.Items != nil && !s.Items.Properties.IsZero() {
		return settingRows(out, defs, path+"[]", *s.Items)
	}
	return nil
}

func values(s setting) string {
	var out string
	switch kind := s.Type.(type) {
	case string:
		out = kind
	case []any:
		var kinds []string
		for _, k := range kind {
			kinds = append(kinds, fmt.Sprint(k))
		}
		out = strings.Join(kinds, " or ")
	}
	if len(s.Enum) > 0 {
		var words []string
		for _, e := range s.Enum {
			words = append(words, fmt.Sprintf("`%v`", e))
		}
		out = strings.Join(words, ", ")
	}
	if out == "array" && s.Items != nil {
		out = "list"
		if kind, _ := s.Items.Type.(string); kind != "" {
			out += " of " + strings.TrimSuffix(kind, "s") + "s"
		}
	}
	if s.Default != nil {
		out += fmt.Sprintf("; default `%v`", s.Default)
	}
	return strings.TrimPrefix(out, "; ")
}
