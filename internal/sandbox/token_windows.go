package sandbox

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"

	"adze/internal/osfile/delicate"
)

// Windows checks each write of a restricted token twice: for the user, and for the token's
// restricting ids. One id is made for the workspace alone, and the access lists of the workspace
// and the temporary folder name it.

// Flags for CreateRestrictedToken.
const (
	disableMaxPrivilege = 1
	luaToken            = 4
	writeRestricted     = 8
)

// rootID returns a folder's id. It is the same in each run, so that its access list is written
// once.
func rootID(folder string) (*windows.SID, error) {
	sum := sha256.Sum256([]byte("adze " + strings.ToLower(filepath.Clean(folder))))
	n := func(i int) uint32 { return binary.LittleEndian.Uint32(sum[4*i:]) }
	return windows.StringToSid(fmt.Sprintf("S-1-5-21-%d-%d-%d-%d", n(0), n(1), n(2), n(3)|1<<20))
}

// restrictedToken returns a token of this user that writes only where root or every user may.
func restrictedToken(root *windows.SID) (windows.Token, error) {
	var own windows.Token
	access := uint32(windows.TOKEN_DUPLICATE | windows.TOKEN_QUERY | windows.TOKEN_ASSIGN_PRIMARY | windows.TOKEN_ADJUST_DEFAULT)
	if err := windows.OpenProcessToken(windows.CurrentProcess(), access, &own); err != nil {
		return 0, fmt.Errorf("the token of this process: %w", err)
	}
	defer own.Close()
	everyone, err := windows.CreateWellKnownSid(windows.WinWorldSid)
	if err != nil {
		return 0, err
	}
	session, err := sessionID(own)
	if err != nil {
		return 0, err
	}
	ids := []windows.SIDAndAttributes{{Sid: root}, {Sid: session}, {Sid: everyone}}
	var token windows.Token
	create := windows.NewLazySystemDLL("advapi32.dll").NewProc("CreateRestrictedToken")
	if err := create.Find(); err != nil {
		return 0, err
	}
	if ok, _, err := create.Call(uintptr(own), disableMaxPrivilege|luaToken|writeRestricted, 0, 0, 0, 0,
		uintptr(len(ids)), uintptr(unsafe.Pointer(&ids[0])), uintptr(unsafe.Pointer(&token))); ok == 0 {
		return 0, fmt.Errorf("make a restricted token: %w", err)
	}
	if err := defaultAccess(token, root, session); err != nil {
		_ = token.Close()
		return 0, err
	}
	return token, nil
}

// sessionID returns the id of the user's logon, which grants access to desktops and consoles.
func sessionID(token windows.Token) (*windows.SID, error) {
	groups, err := token.GetTokenGroups()
	if err != nil {
		return nil, fmt.Errorf("the groups of this user: %w", err)
	}
	for _, g := range groups.AllGroups() {
		if g.Attributes&windows.SE_GROUP_LOGON_ID == windows.SE_GROUP_LOGON_ID {
			return g.Sid, nil
		}
	}
	return nil, errors.New("this user has no id of a logon")
}

// defaultAccess lets the token's programs open objects that they create without an access list,
// such as pipes.
func defaultAccess(token windows.Token, ids ...*windows.SID) error {
	user, err := token.GetTokenUser()
	if err != nil {
		return err
	}
	var entries []windows.EXPLICIT_ACCESS
	for _, id := range append(ids, user.User.Sid) {
		entries = append(entries, lookAt(id, windows.GRANT_ACCESS, windows.GENERIC_ALL, windows.NO_INHERITANCE))
	}
	list, err := windows.ACLFromEntries(entries, nil)
	if err != nil {
		return err
	}
	info := struct{ List *windows.ACL }{list}
	return windows.SetTokenInformation(token, windows.TokenDefaultDacl, (*byte)(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
}

func lookAt(id *windows.SID, mode windows.ACCESS_MODE, rights windows.ACCESS_MASK, inherit uint32) windows.EXPLICIT_ACCESS {
	return windows.EXPLICIT_ACCESS{AccessPermissions: rights, AccessMode: mode, Inheritance: inherit,
		Trustee: windows.TRUSTEE{TrusteeForm: windows.TRUSTEE_IS_SID, TrusteeType: windows.TRUSTEE_IS_UNKNOWN, TrusteeValue: windows.TrusteeValueFromSID(id)}}
}

// Rights of a folder's id. The right on the folder itself does not allow deleting children, so that
// denials below it hold.
const (
	mayWrite = windows.FILE_GENERIC_READ | windows.FILE_GENERIC_WRITE | windows.FILE_GENERIC_EXECUTE | windows.DELETE
	noWrite  = windows.FILE_WRITE_DATA | windows.FILE_APPEND_DATA | windows.FILE_WRITE_EA | windows.FILE_WRITE_ATTRIBUTES |
		windows.DELETE | windows.WRITE_DAC | windows.WRITE_OWNER
)

// held lists the places in a workspace where a file makes other programs run something later.
func held() []string {
	return append(delicate.Spelled(delicate.Top), `.git\hooks`, `.git\config`, `.git\info`, `.git\modules`)
}

// letWrite lets the folder's id write in it, except in the held places.
func letWrite(folder string, id *windows.SID, held []string) error {
	if err := allow(folder, id, lookAt(id, windows.GRANT_ACCESS, mayWrite, windows.SUB_CONTAINERS_AND_OBJECTS_INHERIT)); err != nil {
		return err
	}
	for _, name := range held {
		path := filepath.Join(folder, name)
		switch _, err := os.Lstat(path); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		default:
			if err := allow(path, id, lookAt(id, windows.DENY_ACCESS, noWrite, windows.SUB_CONTAINERS_AND_OBJECTS_INHERIT)); err != nil {
				return err
			}
		}
	}
	return nil
}

// allow adds an entry to a path's access list, unless the list already names the id itself.
func allow(path string, id *windows.SID, e windows.EXPLICIT_ACCESS) error {
	info, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return fmt.Errorf("the access list of %s: %w", path, err)
	}
	old, _, err := info.DACL()
	if err != nil {
		return fmt.Errorf("the access list of %s: %w", path, err)
	}
	if old != nil && slices.ContainsFunc(entriesOf(old), func(a *windows.ACCESS_ALLOWED_ACE) bool {
		return a.Header.AceFlags&windows.INHERITED_ACE == 0 && windows.EqualSid((*windows.SID)(unsafe.Pointer(&a.SidStart)), id)
	}) {
		return nil
	}
	list, err := windows.ACLFromEntries([]windows.EXPLICIT_ACCESS{e}, old)
	if err != nil {
		return err
	}
	if err := windows.SetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION, nil, nil, list, nil); err != nil {
		return fmt.Errorf("change the access list of %s: %w", path, err)
	}
	return nil
}

func entriesOf(list *windows.ACL) (all []*windows.ACCESS_ALLOWED_ACE) {
	for i := range uint32(list.AceCount) {
		var a *windows.ACCESS_ALLOWED_ACE
		if windows.GetAce(list, i, &a) == nil {
			all = append(all, a)
		}
	}
	return all
}

// asToken returns the attributes for starting a process with a token.
func asToken(t windows.Token) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Token: syscall.Token(t)}
}
