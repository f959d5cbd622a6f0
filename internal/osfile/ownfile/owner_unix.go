//go:build unix

package ownfile

import (
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"strings"
	"syscall"
)

// noTerminal keeps a device from becoming this process's terminal.
const noTerminal = syscall.O_NOCTTY

func (r Rule) secret(path string, info fs.FileInfo) error {
	perm := info.Mode().Perm()
	if perm&0o077 == 0 {
		return nil
	}
	if err := r.owned(path, info); err != nil {
		return err
	}
	return &Error{path, fmt.Sprintf("can be read or changed by others (mode %04o)", perm), "chmod 600 " + path}
}

// entry checks who can change a file or folder. In a folder such as /tmp others can add files, but
// not replace this one.
func (r Rule) entry(path string, info fs.FileInfo) error {
	if err := r.owned(path, info); err != nil {
		return err
	}
	perm := info.Mode().Perm()
	if perm&0o002 == 0 && perm&0o020 != 0 && r.privateGroup(info) {
		return nil
	}
	if perm&0o022 != 0 && !(info.IsDir() && info.Mode()&os.ModeSticky != 0) {
		return &Error{path, fmt.Sprintf("can be written by others (mode %04o), who could have programs run in your name", perm), "chmod go-w " + path}
	}
	return nil
}

// privateGroup reports whether a file's group is its owner's private group: it has the owner's
// number and no other member. Systems with umask 002 create files writable by such a group
// (useradd, USERGROUPS_ENAB). Root has none: other accounts may have its group as their primary
// one.
func (r Rule) privateGroup(info fs.FileInfo) bool {
	about, ok := info.Sys().(*syscall.Stat_t)
	if !ok || about.Uid == 0 || about.Gid != about.Uid {
		return false
	}
	groups, err := os.ReadFile("/etc/group")
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(groups)) {
		fields := strings.Split(strings.TrimSpace(line), ":") // name:password:number:members
		if len(fields) == 4 && fields[2] == strconv.Itoa(int(about.Gid)) {
			return fields[3] == "" || fields[3] == name(int(about.Uid))
		}
	}
	return false
}

func (r Rule) owned(path string, info fs.FileInfo) error {
	about, ok := info.Sys().(*syscall.Stat_t)
	if ok && (int(about.Uid) == r.Owner || about.Uid == 0) {
		return nil
	}
	whose := "somebody else"
	if ok {
		whose = name(int(about.Uid))
	}
	return &Error{path, fmt.Sprintf("belongs to %s, who could have programs run in your name", whose),
		fmt.Sprintf("if its content is right, chown %s %s; else remove it", name(r.Owner), path)}
}

func name(id int) string {
	if u, err := user.LookupId(strconv.Itoa(id)); err == nil {
		return u.Username
	}
	return strconv.Itoa(id)
}
