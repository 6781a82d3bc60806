package backend

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/internal/fakes"
	"github.com/clichain/clichain/internal/landlock"
)

// Confined returns what confines a call of the program at path with this access, as in call.Response.Confined, and
// whether it is the kernel. It returns an error if the kernel can confine programs, but not now. The backend must be
// valid.
func (b *Backend) Confined(path string, access call.Access) (how string, kernel bool, err error) {
	b.Compile()
	rules := &b.Spec.Confine
	switch {
	case b.Settings.Confine == call.ConfineOff:
		return "no: confinement is off", false, nil
	case b.InContainer():
		return "no: the CLI runs in a container", false, nil
	case access == call.AccessFull:
		return "no: access full allows everything", false, nil
	case fakes.Allowed() && isSelf(path):
		return "no: the CLI is a fake of this program", false, nil
	}
	version, err := landlock.Usable()
	_, unsupported := errors.AsType[*landlock.UnsupportedError](err)
	switch {
	case err != nil && !unsupported:
		return "no: " + err.Error(), false, err
	case err != nil:
		return "no: " + err.Error(), false, nil
	case slices.Contains(rules.Own, access) && b.Settings.TrustDir:
		return "no: the sandbox of the CLI does not confine the programs of a trusted directory", false, nil
	case slices.Contains(rules.Own, access):
		return "own", false, nil
	case len(rules.State) == 0:
		return "no: the spec does not list the files of the CLI", false, nil
	}
	return fmt.Sprint("landlock ", version), true, nil
}

// isSelf reports whether the program is the one of this process. So are the fakes of package clitest, which write their
// records to the directories of the test. Of another process, a CLI may have put a link to its program among the files
// of the CLI.
func isSelf(path string) bool {
	program, err := os.Stat(path)
	return err == nil && os.SameFile(self(), program)
}

// self describes the program of this process, and is nil if it is unknown.
var self = sync.OnceValue(func() os.FileInfo {
	path, err := os.Executable()
	if err != nil {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	return info
})
