// Package workdir prepares the files of a run: its working directory, the files of its options and its
// temporary files. It refuses untrusted directories.
package workdir

import (
	"os"
	"path"
	"path/filepath"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/localfile"
)

// Backend contains the properties of a backend that its working directories depend on.
type Backend struct {
	Name        string
	Spec        *clispec.Spec
	InContainer bool
}

// Dir returns the working directory of a call, on this machine or inside the container. "" means the default of
// the container. A call with AccessNone gets an empty directory, so that files of other people cannot influence
// the CLI. dir is the directory of the request or of its session. starts reports whether the CLI will be started.
func (b Backend) Dir(req call.Request, dir string, starts bool) (string, *call.Error) {
	found, err := b.find(req, dir, starts)
	if err != nil && err.Reason == call.ReasonBadOption && req.Dir == "" && dir != "" {
		err = call.Errorf(call.ReasonBadSession, "session",
			"the directory of this session does not exist any more: %s", err.Message)
	}
	return found, err
}

func (b Backend) find(req call.Request, dir string, starts bool) (string, *call.Error) {
	switch {
	case b.InContainer && req.Access == call.AccessNone:
		return "", nil
	case b.InContainer && dir != "" && !path.IsAbs(dir):
		return "", call.Errorf(call.ReasonBadOption, "dir", "%q is not an absolute path inside the container", dir)
	case b.InContainer:
		return dir, nil
	}
	if req.Access == call.AccessNone {
		return b.Empty(req.Session != "", starts)
	}
	own, err := localfile.EmptyDir(b.Name)
	if err == nil && dir == own { // the call continues a session
		if b.Spec.Sessions.DirBound {
			err := call.Errorf(call.ReasonBadSession, "session", "this session was created without access to a directory")
			err.Advice = []call.Advice{{Action: call.ActionSet, Field: "access", Value: call.AccessNone.String()}}
			return "", err
		}
		dir = ""
	}
	return existing(dir)
}

// Empty creates the empty working directory of calls with AccessNone. Its path stays the same, because some
// CLIs find a session only in the directory in which it was created. If the home directory is not writable, the
// empty directory is a temporary one, in which no session can continue. Without starts, Empty only returns the
// path.
func (b Backend) Empty(continues, starts bool) (string, *call.Error) {
	if !starts {
		dir, err := localfile.FirstEmptyDir(b.Name)
		if err != nil {
			return "", noEmptyDir(err)
		}
		return dir, nil
	}
	dir, lasting, err := localfile.MakeEmptyDir(b.Name, b.Spec.GuardFiles)
	switch {
	case err != nil:
		return "", noEmptyDir(err)
	case continues && !lasting:
		be := call.Errorf(call.ReasonBadSession, "session",
			"this user's state directory is not writable, so calls without access cannot keep sessions")
		be.Hint = stateHint
		return "", be
	}
	return dir, nil
}

const stateHint = "set XDG_STATE_HOME to a directory that only this user can write to"

func noEmptyDir(err error) *call.Error {
	be := call.Errorf(call.ReasonSpawn, "", "cannot create a private working directory: %v", err)
	be.Err = err
	be.Hint = stateHint
	return be
}

// existing makes the path absolute and checks that it is a directory.
func existing(dir string) (string, *call.Error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", call.Errorf(call.ReasonBadOption, "dir", "%q: %v", dir, err)
	}
	info, err := os.Stat(abs)
	switch {
	case err != nil:
		return "", call.Errorf(call.ReasonBadOption, "dir", "%v", err)
	case !info.IsDir():
		return "", call.Errorf(call.ReasonBadOption, "dir", "%q is not a directory", dir)
	}
	return abs, nil
}
