package commands

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/project/discovery"
	"adze/internal/project/skills"
	"adze/internal/project/trust"
	"adze/session"
	"adze/tool"
	"adze/toolset"
)

// maxParts limits the commands and files of one command.
const maxParts = 50

type expansion struct {
	menu  *Menu
	item  discovery.Item
	typed string // the user's text on one line
	rest  string // text after the name
	tail  string // appended to the result
	run   func(tool.RawCall) tool.Outcome

	text  discovery.Text
	files strings.Builder
	parts int
}

// compose builds the prompt: the user's text, and below it the expanded file. A failing part ends
// it.
func (x *expansion) compose(ctx context.Context, run func(tool.RawCall) tool.Outcome) (string, error) {
	var err error
	if x.item.Kind == discovery.Skill {
		return x.skill(ctx)
	}
	if x.text, err = x.item.Read(ctx); err != nil {
		return "", &session.ComposeError{Cause: session.CauseUsage, Message: x.name() + ": " + err.Error(), Hint: "look at the file, or leave the command out"}
	}
	x.run = run
	x.tell()
	body := strings.TrimSpace(x.text.Body)
	if body == "" {
		return "", &session.ComposeError{Cause: session.CauseUsage, Message: x.name() + " is empty", Hint: "write into " + x.item.Path + " what is to be sent"}
	}
	args := argumentsOf(x.rest, x.item, x.text)
	var b strings.Builder
	for _, p := range discovery.Parts(body) {
		text, err := x.part(ctx, p, args)
		if err != nil {
			return "", err
		}
		b.WriteString(text)
	}
	if !args.used && args.all != "" {
		fmt.Fprintf(&b, "\n\nARGUMENTS: %s", args.all)
	}
	return x.whole(b.String()), nil
}

func (x *expansion) name() string { return "/" + x.item.Label() }

// whole joins the text to send: the user's text first, so that it names the session and can be
// found.
func (x *expansion) whole(body string) string {
	return fmt.Sprintf("%s\n\n<%s from=%q sha256=%q>\n%s\n</%s>%s",
		x.typed, x.item.Kind, x.item.Path, x.text.Hash[:16], strings.TrimSpace(tool.ShownHidden(body)), x.item.Kind, x.files.String()+x.tail)
}

// skill adds the skill as a lasting note, and sends the user's text.
func (x *expansion) skill(ctx context.Context) (string, error) {
	loaded, err := skills.Read(ctx, x.item)
	if err != nil {
		return "", x.fails(session.CauseUsage, err.Error(), "look at the file, or leave the skill out")
	}
	loaded.Body = argumentsOf(x.rest, x.item, discovery.Text{FrontMatter: x.item.FrontMatter, Body: loaded.Body}).fill(x.masked(loaded.Body))
	x.menu.Note(skills.Note(loaded, loaded.Text()))
	return fmt.Sprintf("%s\n\n(follow the skill %s, whose text is in the note above)%s", x.typed, x.item.Name, x.tail), nil
}

// tell reports the file's demands and whether they are met.
func (x *expansion) tell() {
	say := func(format string, args ...any) {
		if x.menu.Notice != nil {
			x.menu.Notice(x.name() + " " + fmt.Sprintf(format, args...))
		}
	}
	if tools, ok := x.text.FrontMatter.List("allowed-tools", "tools"); ok && len(tools) > 0 && x.item.Origin == discovery.Project {
		say("asks for %s; that allows nothing, you are asked as always", strings.Join(tools, ", "))
	}
	if model := x.text.FrontMatter.Text("model"); model != "" && model != "inherit" {
		x.model(model, say)
	}
	if agent := x.text.FrontMatter.Text("agent"); agent != "" {
		say("asks for the agent %s; it is sent to this one", agent)
	}
}

// model lets the file's model answer this turn, if available.
func (x *expansion) model(name string, say func(string, ...any)) {
	if x.menu.LendModel == nil {
		say("asks for the model %s; that of this session answers", name)
		return
	}
	full, err := x.menu.LendModel(x.item.Origin, name)
	if err != nil {
		say("asks for the model %s, which is not used: %v; that of this session answers", name, err)
		return
	}
	say("is answered by %s, as its file says; what comes after it, by the model of this session", full)
}

func (x *expansion) part(ctx context.Context, p discovery.Part, args *arguments) (string, error) {
	if p.Kind != discovery.Plain {
		if x.parts++; x.parts > maxParts {
			return "", x.fails(session.CauseUsage, fmt.Sprintf("it has more than %d parts", maxParts), "make it shorter")
		}
	}
	switch p.Kind {
	case discovery.Shell:
		return x.shell(ctx, p, args)
	case discovery.File:
		return x.file(ctx, p, args)
	}
	return args.fill(x.masked(p.Text)), nil
}

// masked returns a text from the file without secrets.
func (x *expansion) masked(text string) string {
	if x.menu.Mask == nil {
		return text
	}
	return x.menu.Mask(text)
}

func (x *expansion) fails(cause session.Cause, why, hint string) error {
	return &session.ComposeError{Cause: cause, Message: x.name() + ": " + why, Hint: hint}
}

// shell runs one command with the permission check, after checking its consent.
func (x *expansion) shell(ctx context.Context, p discovery.Part, args *arguments) (string, error) {
	if err := x.allowed(p.Text); err != nil {
		return "", x.fails(session.CauseDenied, err.Error(), "adze permission trust show NAME shows what it would run, adze permission trust allow NAME allows it")
	}
	command, err := args.shell(p.Text)
	if err != nil {
		return "", x.fails(session.CauseUsage, fmt.Sprintf("%s: %v", oneLine(p.Text), err), "change "+x.item.Path)
	}
	o, err := x.call(ctx, "bash", map[string]string{"command": command})
	if err != nil {
		return "", x.fails(causeOf(o), fmt.Sprintf("%s: %s", oneLine(command), why(o)), "nothing was sent; a part that fails ends the command")
	}
	return toolset.Written(o), nil
}

// allowed returns an error if the user has not allowed a project's shell part in its current form.
func (x *expansion) allowed(command string) error {
	if x.item.Origin != discovery.Project {
		return nil
	}
	items, err := x.menu.Project.Survey()
	if err != nil {
		return err
	}
	at := slices.IndexFunc(items, func(i trust.Item) bool { return i.Kind == trust.Command && i.Source == x.item.Path })
	if at < 0 {
		return fmt.Errorf("its shell parts can only be allowed where adze is started in the folder that holds %s", x.item.Path)
	}
	i := items[at]
	switch {
	case i.Problem != "":
		return fmt.Errorf("%s: %s", i.ID, i.Problem)
	case i.State == trust.Changed:
		return fmt.Errorf("%s changed since you allowed it, and may not run anything", i.ID)
	case i.State != trust.Allowed:
		return fmt.Errorf("%s would run commands, which you did not allow yet", i.ID)
	case !bytes.Equal(i.Raw, x.text.Raw) || !slices.Contains(i.Shell, command):
		return fmt.Errorf("%s is not what was allowed any more", i.ID)
	}
	return x.menu.Project.Holds(i)
}

// file reads a named file with the permission check. A name without a file stays as text, such as
// @types or an address.
func (x *expansion) file(ctx context.Context, p discovery.Part, args *arguments) (string, error) {
	used := args.used
	name := args.fill(p.Text)
	target := name
	if !filepath.IsAbs(target) {
		target = filepath.Join(x.menu.Project.Dir, target)
	}
	if name == "" || strings.HasPrefix(name, "~") || !exists(target) {
		args.used = used
		return args.fill(p.Raw), nil
	}
	o, err := x.call(ctx, "read", map[string]string{"path": name})
	if err != nil {
		return "", x.fails(causeOf(o), fmt.Sprintf("%s: %s", p.Raw, why(o)), "nothing was sent; a part that fails ends the command")
	}
	fmt.Fprintf(&x.files, "\n\n<file path=%q>\n%s\n</file>", name, strings.TrimSpace(o.Output))
	return "@" + name, nil
}

// call runs one call for this command. It returns an error if the call did not succeed.
func (x *expansion) call(ctx context.Context, name string, args any) (tool.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return tool.Outcome{Status: tool.Aborted}, context.Cause(ctx)
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return tool.Outcome{}, err
	}
	o := x.run(tool.RawCall{Name: name, Arguments: string(raw), Origin: tool.FromCommand})
	if o.Status != tool.Completed {
		return o, fmt.Errorf("%s", o.Output)
	}
	return o, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func causeOf(o tool.Outcome) session.Cause {
	switch o.Status {
	case tool.Denied:
		return session.CauseDenied
	case tool.Aborted:
		return session.CauseInterrupted
	}
	return session.CauseTool
}

// why describes a call's result for the user.
func why(o tool.Outcome) string {
	text := strings.TrimSpace(o.Output)
	if strings.HasPrefix(text, string(o.Status)) {
		return text
	}
	return strings.TrimSuffix(string(o.Status)+": "+text, ": ")
}

func oneLine(text string) string {
	line, _, more := strings.Cut(strings.TrimSpace(text), "\n")
	if more {
		line += " …"
	}
	return line
}
