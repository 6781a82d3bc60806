package drift

import (
	"encoding/json"
	"fmt"
)

// Deprecated returns the deprecation message of an installed package, as npm records it in a package-lock.json. It is
// empty if the package is not deprecated. It is an error if the lock file does not list the package.
func Deprecated(lock []byte, name string) (string, error) {
	var file struct {
		Packages map[string]struct{ Deprecated string }
	}
	if err := json.Unmarshal(lock, &file); err != nil {
		return "", err
	}
	p, ok := file.Packages["node_modules/"+name]
	if !ok {
		return "", fmt.Errorf("the lock file has no package %q", name)
	}
	return p.Deprecated, nil
}
