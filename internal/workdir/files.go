package workdir

import (
	"os"
	"path/filepath"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/compose"
	"github.com/clichain/clichain/internal/localfile"
)

// MakeFiles creates the temporary files of a run in a private directory. It also empties the working directory
// of a call without access, unless the call runs in a container. The caller must always call remove, which
// deletes the private directory.
func MakeFiles(inv *compose.Invocation, inContainer bool) (remove func(), err *call.Error) {
	remove = func() {}
	if inv.Empty && !inContainer {
		if err := localfile.KeepEmpty(inv.Dir, inv.Guards); err != nil {
			return remove, noEmptyDir(err)
		}
	}
	if inv.Temp == "" {
		return remove, nil
	}
	temp, failed := localfile.NewDir(inv.Temp)
	if failed != nil {
		return remove, noTempFile(failed)
	}
	defer temp.Close()
	remove = func() { _ = os.RemoveAll(inv.Temp) } // a failure only leaves a private directory behind
	for _, f := range inv.Files {
		name, err := filepath.Rel(inv.Temp, f.Path)
		if err == nil {
			err = temp.WriteFile(name, []byte(f.Content), 0o600)
		}
		if err != nil {
			return remove, noTempFile(err)
		}
	}
	return remove, nil
}

func noTempFile(err error) *call.Error {
	be := call.Errorf(call.ReasonSpawn, "", "cannot write a temporary file: %v", err)
	be.Err = err
	return be
}
