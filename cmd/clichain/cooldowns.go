package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cooldown"
)

// cooldownsVariable names the file of rests, or turns it "off".
const cooldownsVariable = "CLICHAIN_COOLDOWNS"

// cooldowns is the file in which the calls of this user tell each other which
// backends rest; nil where there is none.
func (a *app) cooldowns() cooldown.Store {
	path := a.env(cooldownsVariable)
	if path == "off" {
		return nil
	}
	if path == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return nil // a machine without a home
		}
		path = filepath.Join(dir, "clichain", "cooldowns.json")
	}
	return cooldown.NewFile(path, a.warnOfStore)
}

// warnOfStore tells what a person can mend. That a place cannot be written to
// is usual in sandboxes.
func (a *app) warnOfStore(err error) {
	if _, usual := errors.AsType[*fs.PathError](err); !usual {
		fmt.Fprintf(a.err, "clichain: warning: %s\n", oneLine(err.Error()))
	}
}

// hinted says what to do about a chain all of which rests.
func hinted(err *clichain.ChainError) *clichain.ChainError {
	cause, ok := err.Cause.(*clichain.BackendError)
	if !ok || cause.Reason != clichain.ReasonCoolingDown || cause.Hint != "" {
		return err
	}
	told := *cause
	told.Hint = "--no-cooldown asks all the same"
	return &clichain.ChainError{Attempts: err.Attempts, Cause: &told}
}
