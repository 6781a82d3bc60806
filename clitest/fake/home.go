package fake

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// Run calls [Main], then runs the tests and returns their exit code. The tests get their own empty home directory and
// temporary directory, which Run removes at the end. Files of the user and programs that run at the same time, such as
// the tests of other packages, then do not affect the tests. Programs that the tests start inherit these directories.
// The go command keeps its caches. m is the [testing.M] of TestMain:
//
//	func TestMain(m *testing.M) { os.Exit(fake.Run(m)) }
func Run(m interface{ Run() int }) (code int) {
	Main()
	dir, err := os.MkdirTemp("", "clitest-")
	if err != nil {
		fail("directory of the tests: %v", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := moveTo(dir); err != nil {
		fail("directory of the tests: %v", err)
	}
	return m.Run()
}

// moveTo makes this process see directories below dir as its home and its temporary directory.
func moveTo(dir string) error {
	home, temp := filepath.Join(dir, "home"), filepath.Join(dir, "tmp")
	errs := []error{os.Mkdir(home, 0o700), os.Mkdir(temp, 0o700)}
	// Other users may use the temporary directory, as they may use that of the system.
	errs = append(errs, os.Chmod(dir, 0o755), os.Chmod(temp, os.ModeSticky|0o777))
	set := func(name, value string) { errs = append(errs, os.Setenv(name, value)) }
	for name, value := range goPlaces() {
		set(name, value)
	}
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"} {
		errs = append(errs, os.Unsetenv(name))
	}
	for _, name := range []string{"HOME", "USERPROFILE"} {
		set(name, home)
	}
	set("APPDATA", filepath.Join(home, "AppData", "Roaming"))
	set("LocalAppData", filepath.Join(home, "AppData", "Local"))
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		set(name, temp)
	}
	return errors.Join(errs...)
}

// goPlaces returns environment variables of the go command whose default values depend on the home directory, with
// these values. It leaves out those that the user has set.
func goPlaces() map[string]string {
	config, _ := os.UserConfigDir() // without a home directory, there is nothing to keep
	cache, _ := os.UserCacheDir()
	home, _ := os.UserHomeDir()
	places := map[string]string{
		"GOENV":   filepath.Join(config, "go", "env"),
		"GOCACHE": filepath.Join(cache, "go-build"),
		"GOPATH":  filepath.Join(home, "go"),
	}
	settings, _ := os.ReadFile(places["GOENV"])
	for name, value := range places {
		if os.Getenv(name) != "" || !filepath.IsAbs(value) || strings.Contains("\n"+string(settings), "\n"+name+"=") {
			delete(places, name)
		}
	}
	return places
}
