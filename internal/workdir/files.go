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
	if inv.Empty && !inContainer && !inv.Private {
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
	if inv.Private {
		for _, guard := range inv.Guards {
			if err := write(temp, inv.Temp, filepath.Join(inv.Dir, guard), ""); err != nil {
				return remove, noTempFile(err)
			}
		}
	}
	for _, f := range inv.Files {
		if err := write(temp, inv.Temp, f.Path, f.Content); err != nil {
			return remove, noTempFile(err)
		}
	}
	return remove, nil
}

// write creates a file below the directory at top, and the directories above the file.
func write(dir *os.Root, top, path, content string) error {
	name, err := filepath.Rel(top, path)
	if err != nil {
		return err
	}
	if err := dir.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	return dir.WriteFile(name, []byte(content), 0o600)
}

func noTempFile(err error) *call.Error {
	be := call.Errorf(call.ReasonSpawn, "", "cannot write a temporary file: %v", err)
	be.Err = err
	return be
}
