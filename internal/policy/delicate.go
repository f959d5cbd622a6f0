package policy

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"adze/tool"
)

// Some files are worth a question however freely a mode writes: what an editor, a shell, a package
// manager or git runs or obeys when it next starts. Names count at any depth and in any case,
// whether or not the file exists yet.

// delicateFolders are folders whose files make other programs act: editors, assistants, package
// managers, git's hooks.
func delicateFolders() []string {
	return []string{".vscode", ".idea", ".zed", ".claude", ".cursor", ".gemini", ".codex", ".opencode", ".ssh", ".devcontainer", ".husky", ".cargo", ".bundle"}
}

// delicateFiles are such files, start files of shells among them.
func delicateFiles() []string {
	return []string{
		".mcp.json", ".devcontainer.json", ".envrc", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", ".gitattributes", ".gitmodules", ".gitconfig",
		".profile", ".login", ".logout", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases",
		".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".xprofile", ".xsessionrc",
		".inputrc", ".pam_environment", "config.fish", ".tmux.conf", ".vimrc", ".exrc", ".nvimrc", ".nvim.lua", ".dir-locals.el", ".gdbinit",
		".lldbinit", ".pdbrc", ".irbrc", ".pryrc", ".rprofile", ".octaverc", ".bazelrc", ".pre-commit-config.yaml", "lefthook.yml", ".lefthook.yml",
		"head", // makes its folder a git repository without a work tree, whose configuration names programs
	}
}

// delicatePaths are ends of folder names that only mean something together.
func delicatePaths() []string {
	return []string{".config/fish", ".config/git", ".config/nvim", ".config/environment.d", ".config/autostart", ".config/systemd"}
}

// delicate names the part of a path that makes it one; if empty, none does.
func delicate(abs string) string {
	low := strings.ToLower(abs)
	name := path.Base(low)
	for _, file := range delicateFiles() {
		if name == file {
			return file
		}
	}
	for _, folder := range slices.Concat(delicateFolders(), delicatePaths()) {
		if strings.Contains(low+"/", "/"+folder+"/") {
			return folder
		}
	}
	return ""
}

// delicatePart is delicate for a place, and for the name that led there. In the home folder it is
// also what lies where shells look for programs.
func delicatePart(place Place, home string) string {
	for _, p := range place.both() {
		if part := delicate(p.Abs); part != "" {
			return part
		}
		for _, folder := range []string{".local/bin", "bin"} {
			if home != "" && within(p.Abs, home+"/"+folder) {
				return folder
			}
		}
	}
	return ""
}

// kept lists where adze keeps what is its own, configuration, declared tools and sessions: as it is
// named and as it is. Links are followed anew each time, since they can change.
func (p *Policy) kept() (folders []string) {
	led := p.follow(p.own)
	for i, name := range p.own {
		folders = append(folders, name)
		if at := led[i]; at != "" && at != name {
			folders = append(folders, at)
		}
	}
	return folders
}

// keptIn is the folder of adze's own that a place lies in; if empty, in none.
func keptIn(folders []string, place Place) string {
	for _, folder := range folders {
		for _, at := range place.both() {
			if within(at.Abs, folder) {
				return folder
			}
		}
	}
	return ""
}

// within compares without regard to case: some file systems fold it.
func within(abs, folder string) bool {
	folder = strings.TrimSuffix(folder, "/")
	return len(abs) >= len(folder) && strings.EqualFold(abs[:len(folder)], folder) && (len(abs) == len(folder) || abs[len(folder)] == '/')
}

// names reports whether an allow rule has thought of a file that is asked for by its name: it
// spells out what makes it one.
func (r Rule) names(part string) bool {
	return strings.Contains(strings.ToLower(r.path.pattern), part)
}

// ownReason refuses a write to adze's own files in every mode.
func ownReason(doing string) string {
	return fmt.Sprintf("%s is not possible: adze keeps its own configuration and sessions there, and no tool changes them; say what should be changed, so that the person does it", doing)
}

// careful says why a file is asked for by what it is, in every mode but yolo; if empty, it is not.
// Part is what an allow rule has to spell out.
func (p *Policy) careful(kind tool.Permission, place Place, kept []string) (why, part string) {
	if kind == tool.Write {
		if part := delicatePart(place, p.home); part != "" {
			return "files such as " + part + " make other programs run things", part
		}
		return "", ""
	}
	if folder := keptIn(kept, place); folder != "" {
		return "adze keeps its own configuration and sessions there", strings.ToLower(path.Base(folder))
	}
	if p.secret(place) {
		return "it usually holds secrets", ""
	}
	return "", ""
}
