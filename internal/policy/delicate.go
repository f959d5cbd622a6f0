package policy

import (
	"fmt"
	"path"
	"strings"

	"adze/internal/osfile/delicate"
	"adze/tool"
)

// delicatePart returns the part of a place or its name through which another program runs something
// (package delicate), and the reason; "" if there is none. The file need not exist.
func delicatePart(place Place, home string) (part, why string) {
	for _, p := range place.both() {
		n, found := delicate.In(strings.TrimPrefix(p.Abs, "/"), delicate.File)
		if !found && !p.Outside {
			n, found = delicate.In(p.Rel, delicate.File)
		}
		if !found && home != "" && inFolder(p.Abs, home) {
			n, found = delicate.InHome(strings.TrimPrefix(p.Abs[len(strings.TrimSuffix(home, "/")):], "/"), delicate.File)
		}
		switch {
		case found:
			return n.Plain(), n.Plain() + " makes another program run something (" + n.Program + ": " + n.Runs + ")"
		case delicate.Fold(path.Base(p.Abs)) == "head": // with objects and refs beside it
			return "head", "HEAD can make its folder a git repository, whose configuration names programs"
		}
	}
	return "", ""
}

// kept returns adze's own folders (configuration, declared tools, sessions), as named and with
// links resolved. It resolves them on each call, because links can change.
func (p *Policy) kept() (folders []string) {
	led := p.follow(p.options.OwnPaths)
	for i, name := range p.options.OwnPaths {
		folders = append(folders, name)
		if at := led[i]; at != "" && at != name {
			folders = append(folders, at)
		}
	}
	return folders
}

// keptIn returns the one of adze's own folders that contains a place, or "".
func keptIn(folders []string, place Place) string {
	for _, folder := range folders {
		for _, at := range place.both() {
			if inFolder(at.Abs, folder) {
				return folder
			}
		}
	}
	return ""
}

// inFolder ignores case, like some file systems.
func inFolder(abs, folder string) bool {
	folder = strings.TrimSuffix(folder, "/")
	return len(abs) >= len(folder) && strings.EqualFold(abs[:len(folder)], folder) && (len(abs) == len(folder) || abs[len(folder)] == '/')
}

// names reports whether an allow rule names the sensitive part explicitly.
func (r Rule) names(part string) bool {
	return strings.Contains(strings.ToLower(r.path.pattern), part)
}

// ownReason explains why adze's own files are never writable.
func ownReason(doing string) string {
	return fmt.Sprintf("%s is not possible: adze keeps its own configuration and sessions there, and no tool changes them; say what should be changed, so that the person does it", doing)
}

// careful explains why a file requires a question in every mode but yolo: it holds secrets, makes
// programs run something, or is adze's own. why is "" otherwise. An allow rule must name part
// explicitly.
func (p *Policy) careful(kind tool.Permission, place Place, kept []string) (why, part string) {
	if kind == tool.Write {
		part, why := delicatePart(place, p.options.Home)
		return why, part
	}
	if folder := keptIn(kept, place); folder != "" {
		return "adze keeps its own configuration and sessions there", strings.ToLower(path.Base(folder))
	}
	if p.secret(place) {
		return "it usually holds secrets", ""
	}
	return "", ""
}
