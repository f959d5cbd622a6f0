package lsp

import (
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"adze/internal/sandbox/proc"
)

// launch is a server's command line and settings, which keep it from running project code that the
// user did not allow.
type launch struct {
	argv []string
	dir  string
	env  []string
	init object
	// settings answers workspace/configuration, by section.
	settings object
	named    []string // programs and files that the sandbox must show
	sdk      string   // project code that it runs, or ""
	note     string   // project code that it does not run, and its replacement
}

// unallowed returns an error for a server that would run project code.
func unallowed(what string) error {
	return errors.New("it is not started: " + what + ", and the user has not allowed that here")
}

// launch returns a server's command line for a root, or an error if it must not start.
func (s *Servers) launch(l Language, root string) (launch, error) {
	o := s.opts
	program, err := proc.LookPath(l.Command[0], o.Root, o.Env)
	if err != nil && l.Name != nativeTypeScript {
		return launch{}, err
	}
	out := launch{argv: slices.Concat([]string{program}, l.Command[1:]), dir: "/", env: isolated(o.Env, o.Root), init: options(l), settings: object{}}
	sdk, there := l.sdk(o.Root, o.Env)
	allowed := there && sdk.Problem == "" && o.Allows != nil && o.Allows(sdk)
	if !l.known(o.Root, o.Env) {
		if !allowed {
			return launch{}, unallowed("it may run code of this project")
		}
		out.dir, out.env, out.sdk = root, o.Env, sdk.Name // as in its manual
		out.named = l.Command
		return out, nil
	}
	if allowed {
		out.sdk = sdk.Name
	}
	switch l.Name {
	case nativeTypeScript:
		// By default it renames an import only within the file ("a as b").
		preferences := object{"preferences": object{"useAliasesForRenames": false}}
		out.settings["typescript"], out.settings["javascript"], out.settings["js/ts"] = preferences, preferences, preferences
		err = out.nativeTypeScript(o, sdk, there)
	case typescriptServer:
		err = out.typeScript(o, sdk, there)
	case "pyright":
		out.pyright(root)
	case "gopls":
		out.gopls(o.Env)
	case "rust-analyzer":
		if !allowed {
			err = unallowed("it would run the project's build scripts and macros")
		}
	}
	out.named = append(out.named, out.argv[0])
	return out, err
}

// isolated returns an environment in which interpreters load nothing from project folders.
func isolated(env []string, root string) []string {
	out := slices.Clone(env)
	for i, kv := range out {
		name, value, _ := strings.Cut(kv, "=")
		if name == "PYTHONPATH" || name == "NODE_PATH" {
			out[i] = name + "=" + proc.OutsidePath(value, root)
		}
	}
	return append(out, "PYTHONSAFEPATH=1", "GOPACKAGESDRIVER=off")
}

func options(l Language) object {
	out := object{}
	if json.Unmarshal(l.Init, &out) != nil || out == nil {
		return object{}
	}
	return out
}

// nativeTypeScript uses the project's compiler if allowed, else the user's.
func (n *launch) nativeTypeScript(o Options, sdk SDK, there bool) error {
	theirs := there && sdk.Server == nativeTypeScript
	if theirs && n.sdk != "" {
		n.argv[0] = filepath.Join(o.Root, sdk.Argv[0])
		if filepath.IsAbs(sdk.Argv[0]) {
			n.argv[0] = sdk.Argv[0]
		}
		return nil
	}
	if n.sdk != "" && slices.ContainsFunc(o.Languages, func(l Language) bool { return l.Name == typescriptServer }) {
		return errors.New("the project's own TypeScript, which the user allowed, is older than 7")
	}
	n.sdk = ""
	own, ok := nativeOf(n.argv[0], o.Root)
	switch {
	case ok:
		n.argv[0] = own.program()
		if n.argv[0] == "" {
			return errors.New("the package typescript " + own.version + " in " + own.dir + " has no program for this system")
		}
	case theirs:
		return unallowed("it would run the project's TypeScript, and the user has none of version 7 or newer")
	default:
		return errors.New("no TypeScript 7 or newer is installed")
	}
	if there {
		n.note = "it uses the user's TypeScript " + own.version + ": the project's own was not allowed"
		if sdk.Server != nativeTypeScript {
			n.note = "it uses the user's TypeScript " + own.version + ", not the project's older one"
		}
	}
	return nil
}

// nativeOf returns the TypeScript package of the user's tsc, from version 7 on.
func nativeOf(program, root string) (typeScript, bool) {
	t, ok := packageAround(program)
	return t, ok && t.native() && !inFolder(t.dir, root)
}

// packageAround returns the TypeScript package that contains a program such as bin/tsc.
func packageAround(program string) (typeScript, bool) {
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		return typeScript{}, false
	}
	return typeScriptIn(filepath.Dir(filepath.Dir(real)))
}

// typeScript sets the tsserver of typescript-language-server, which would use the project's by
// default.
func (n *launch) typeScript(o Options, sdk SDK, there bool) error {
	own, _ := n.init["tsserver"].(object)
	server := object{"useSyntaxServer": "never"} // it answers for one file while the project loads
	maps.Copy(server, own)
	if _, said := n.init["disableAutomaticTypingAcquisition"]; !said {
		n.init["disableAutomaticTypingAcquisition"] = true // it would run npm
	}
	if plugins, ok := n.init["plugins"].([]any); ok && n.sdk == "" {
		n.init["plugins"] = slices.DeleteFunc(plugins, func(p any) bool {
			m, _ := p.(object)
			at, _ := m["location"].(string)
			return !filepath.IsAbs(at) || inFolder(at, o.Root)
		})
	}
	path, _ := server["path"].(string)
	delete(server, "fallbackPath")
	switch {
	case n.sdk != "" && sdk.Server == typescriptServer:
		path = filepath.Join(o.Root, sdk.Argv[1])
	case filepath.IsAbs(path) && !inFolder(path, o.Root):
	default:
		n.sdk, path = "", ""
		t, ok := ownTypeScript(n.argv[0], o.Root, o.Env)
		if ok {
			path = t.tsserver()
		}
		switch {
		case !ok && there:
			return unallowed("it would run the project's TypeScript, because it finds none of the user's of a version before 7")
		case !ok:
			return errors.New("it finds no TypeScript of a version before 7; npm install -g typescript@5 installs one")
		case there:
			n.note = "it uses the user's TypeScript " + t.version + ": the project's own was not allowed"
		}
	}
	server["path"] = path
	n.init["tsserver"] = server
	n.named = append(n.named, path)
	return nil
}

// ownTypeScript returns the user's TypeScript with a tsserver.js: next to the server, as node
// resolves it, or from a program on PATH.
func ownTypeScript(program, root string, env []string) (typeScript, bool) {
	usable := func(t typeScript, ok bool) bool { return ok && t.tsserver() != "" && !inFolder(t.dir, root) }
	if real, err := filepath.EvalSymlinks(program); err == nil {
		for dir := filepath.Dir(real); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			if t, ok := typeScriptIn(filepath.Join(dir, "node_modules", "typescript")); usable(t, ok) {
				return t, true
			}
		}
	}
	for _, name := range []string{"tsserver", "tsc"} {
		if found, err := proc.LookPath(name, root, env); err == nil {
			if t, ok := packageAround(found); usable(t, ok) {
				return t, true
			}
		}
	}
	return typeScript{}, false
}

// gopls keeps go from switching to the project's toolchain, and makes gopls check a change at once.
func (n *launch) gopls(env []string) {
	if _, said := n.init["diagnosticsDelay"]; !said {
		n.init["diagnosticsDelay"] = "0s"
	}
	n.settings["gopls"] = n.init
	fixed := ""
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, "GOTOOLCHAIN="); ok {
			fixed = v
		}
	}
	if fixed == "" || fixed == "auto" || fixed == "path" || strings.Contains(fixed, "+") {
		n.env = append(n.env, "GOTOOLCHAIN=local")
	}
}

// pyright sets the packages from the project's virtual environment without running its interpreter.
func (n *launch) pyright(root string) {
	var packages []string
	for _, venv := range []string{".venv", "venv", "env"} {
		found, _ := filepath.Glob(filepath.Join(root, venv, "lib", "python*", "site-packages")) // the pattern is valid
		packages = append(packages, found...)
	}
	analysis := object{"extraPaths": packages}
	n.settings["python"], n.settings["python.analysis"] = object{"analysis": analysis}, analysis
}
