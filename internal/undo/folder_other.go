//go:build !linux && !darwin && !windows

package undo

import "os"

type names struct{}

func openRoot(string) (folder, error) { return folder{fd: -1}, ErrUnsupported }
func statPath(string) (stat, error)   { return stat{}, ErrUnsupported }

func (folder) close()                             {}
func (folder) rewind() error                      { return ErrUnsupported }
func (folder) read(*names) ([]string, error)      { return nil, ErrUnsupported }
func (folder) stat(string) (stat, error)          { return stat{}, ErrUnsupported }
func (folder) openFolder(string) (folder, error)  { return folder{fd: -1}, ErrUnsupported }
func (folder) readLink(string) string             { return "" }
func space(string) (free, total int64, err error) { return 0, 0, ErrUnsupported }

func (folder) writeFile(string, []byte, uint32, string) error { return ErrUnsupported }
func (folder) symlink(string, string) error                   { return ErrUnsupported }
func (folder) makeFolder(string) error                        { return ErrUnsupported }
func (folder) chmod(string, uint32) error                     { return ErrUnsupported }
func (folder) dress(string, uint32, string) error             { return ErrUnsupported }
func (folder) remove(string) error                            { return ErrUnsupported }
func (folder) removeFolder(string) error                      { return ErrUnsupported }
func (folder) exchange(string, string, func()) error          { return ErrUnsupported }
func (folder) endExchange(string, string) error               { return ErrUnsupported }
func (folder) move(string, string) error                      { return ErrUnsupported }
func (folder) syncAll() error                                 { return ErrUnsupported }

func attrsOf(int) string { return "" }

func (folder) openFile(string) (*os.File, error) { return nil, ErrUnsupported }
func statOpen(*os.File) (stat, error)            { return stat{}, ErrUnsupported }
