package machine

import (
	"fmt"
	"os"

	"github.com/clichain/clichain/internal/localfile"
)

// HomeProblem describes a problem with the home directory, in which CLIs keep their login and sessions, and
// what to do about it. The code is one of the doctor's codes. All results are empty if there is no problem.
func HomeProblem(home string) (code, message, hint string) {
	info, err := os.Stat(home)
	switch {
	case home == "" || err != nil || !info.IsDir():
		return "home_missing", fmt.Sprintf("HOME=%q is not a directory", home),
			"set HOME to a directory: CLIs keep their login and sessions there"
	case !localfile.Writable(home):
		return "home_readonly", "HOME=" + home + " is not writable",
			"set HOME to a writable directory that contains the credential files"
	}
	return "", "", ""
}
