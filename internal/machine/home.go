package machine

import (
	"fmt"
	"os"

	"github.com/clichain/clichain/internal/localfile"
)

// HomeProblem says what is wrong with the home of the CLIs, which keep their
// login and their sessions there, and what to do. The code is the doctor's; it is
// empty where nothing is wrong.
func HomeProblem(home string) (code, message, hint string) {
	info, err := os.Stat(home)
	switch {
	case home == "" || err != nil || !info.IsDir():
		return "home_missing", fmt.Sprintf("HOME=%q is no folder", home),
			"set HOME to a folder: CLIs keep their login and their sessions there"
	case !localfile.Writable(home):
		return "home_readonly", "HOME=" + home + " cannot be written to",
			"set HOME to a folder that can be written to, with the credential files in it"
	}
	return "", "", ""
}
