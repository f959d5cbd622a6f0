package workspace

import (
	"io/fs"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// spelled is a name with the separators of this system, where dir is the workspace. It refuses what
// Windows would open as something else than a file of that name: devices, streams, names whose end
// it drops, and names relative to the current folder of a drive.
func spelled(name, dir string) (string, error) {
	if name == "" {
		return name, nil
	}
	plain := withoutPrefix(filepath.FromSlash(name))
	if drive, rest, ok := unixDrive(plain); ok {
		plain = drive + `:\` + rest
	}
	volume := filepath.VolumeName(plain)
	rest := plain[len(volume):]
	switch {
	case strings.HasPrefix(volume, `\\.`), strings.HasPrefix(volume, `\\?`), strings.HasPrefix(volume, `\??`):
		return "", fail(InvalidInput, "%s names a device; give the path of a file, such as %s", name, filepath.Join(dir, "file.txt"))
	case volume != "" && !strings.HasPrefix(volume, `\\`) && !strings.HasPrefix(rest, `\`):
		return "", fail(InvalidInput, `%s is relative to the current folder of a drive; give the whole path, such as %s\%s`, name, volume, rest)
	case volume == "" && strings.HasPrefix(rest, `\`):
		plain = filepath.VolumeName(dir) + rest
	}
	for _, part := range parts(rest) {
		if err := plainPart(name, part); err != nil {
			return "", err
		}
	}
	return plain, nil
}

// withoutPrefix is a path without the prefix that turns off the rules for names.
func withoutPrefix(path string) string {
	if rest, ok := strings.CutPrefix(path, `\\?\UNC\`); ok {
		return `\\` + rest
	}
	if rest, ok := strings.CutPrefix(path, `\\?\`); ok && len(rest) > 1 && rest[1] == ':' {
		return rest
	}
	return path
}

// unixDrive reads \c\x, as Git's bash has C:\x.
func unixDrive(path string) (drive, rest string, ok bool) {
	if len(path) < 2 || path[0] != '\\' || !letter(path[1]) || len(path) > 2 && path[2] != '\\' {
		return "", "", false
	}
	return strings.ToUpper(path[1:2]), strings.TrimPrefix(path[2:], `\`), true
}

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// plainPart refuses a part of a name that Windows takes for something else.
func plainPart(name, part string) error {
	switch {
	case part == "" || part == "." || part == "..":
		return nil
	case strings.Contains(part, ":"):
		return fail(InvalidInput, "%s names a stream of a file (the part after the colon); give the name of the file", name)
	case strings.ContainsAny(part, `<>"|?*`) || strings.IndexFunc(part, func(r rune) bool { return r < ' ' }) >= 0:
		return fail(InvalidInput, `%s has a character that no file name has on Windows, one of < > " | ? * or a control character; give the plain name`, name)
	case strings.HasSuffix(part, ".") || strings.HasSuffix(part, " "):
		return fail(InvalidInput, "%s: Windows drops the dots and blanks at the end of %q; give the name without them", name, part)
	case !filepath.IsLocal(part):
		return fail(InvalidInput, "%s: %q is a device on Windows and no file; give another name", name, part)
	}
	return nil
}

// top is the folder that a path begins at, seen from the folder at, and the rest of the path.
func top(path, at string) (folder, rest string) {
	path = withoutPrefix(filepath.FromSlash(path))
	volume := filepath.VolumeName(path)
	rest = path[len(volume):]
	switch {
	case volume != "":
		return volume + `\`, rest
	case strings.HasPrefix(rest, `\`):
		return filepath.VolumeName(at) + `\`, rest
	}
	return at, rest
}

// machine is the absolute path of what FS.OpenDir opens: the drives and shares have no folder.
const machine = ""

func parts(path string) []string { return strings.Split(filepath.FromSlash(path), `\`) }

// split is the names that lead to a path, without empty ones; the first of an absolute one is its
// volume.
func split(path string) []string {
	volume := filepath.VolumeName(path)
	names := strings.FieldsFunc(path[len(volume):], func(c rune) bool { return c == '/' || c == '\\' })
	if volume != "" {
		names = append([]string{volume + `\`}, names...)
	}
	return names
}

// cutFolder is a path relative to a folder that it begins with, whatever the case of their letters.
func cutFolder(path, folder string) (rest string, inside bool) {
	folder = strings.TrimSuffix(folder, `\`) + `\`
	if len(path) < len(folder) || !strings.EqualFold(path[:len(folder)], folder) {
		return path, false
	}
	return path[len(folder):], true
}

// sameName reports two spellings of one path.
func sameName(a, b string) bool { return strings.EqualFold(a, b) }

// leads reports what leads elsewhere: a link, or a junction, which has an irregular mode.
func leads(mode fs.FileMode) bool { return mode&(fs.ModeSymlink|fs.ModeIrregular) != 0 }

// entryName is the name that the last part of a path has in its folder: in the case in which it was
// made, and the long one where the path has a short one (8.3). So one file has one path, whatever
// way it is spelled.
func entryName(path string) string {
	base := filepath.Base(path)
	long, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return base
	}
	var data windows.Win32finddata
	found, err := windows.FindFirstFile(long, &data)
	if err != nil {
		return base // it can be reached and not listed
	}
	_ = windows.FindClose(found)
	if name := windows.UTF16ToString(data.FileName[:]); name != "" && name != "." {
		return name
	}
	return base
}
