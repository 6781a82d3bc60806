// Typecheck checks the types of packages and of their tests for other systems. It reads all packages that they import
// as source. "go vet" compiles these packages first, which takes minutes for each system.
//
//	typecheck -systems linux/arm64,darwin/arm64 ./...
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	systems := flag.String("systems", "", "the systems, such as linux/arm64,darwin/arm64")
	flag.Parse()
	failed := false
	for system := range strings.SplitSeq(*systems, ",") {
		errors, err := check(system, flag.Args())
		if err != nil {
			fmt.Fprintf(os.Stderr, "typecheck: %s: %v\n", system, err)
			os.Exit(2)
		}
		for _, e := range errors {
			failed = true
			fmt.Printf("%s: %v\n", system, e)
		}
	}
	if failed {
		os.Exit(1)
	}
}

// check returns the errors of the packages and of everything that they import.
func check(system string, patterns []string) ([]packages.Error, error) {
	goos, goarch, ok := strings.Cut(system, "/")
	if !ok {
		return nil, fmt.Errorf("%q is no system: use GOOS/GOARCH", system)
	}
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
			packages.NeedDeps | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedTypesSizes | packages.NeedSyntax,
		Env:   append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0"),
		Tests: true,
	}, patterns...)
	if err != nil {
		return nil, err
	}
	var errors []packages.Error
	packages.Visit(loaded, nil, func(p *packages.Package) {
		for _, e := range p.Errors {
			if !slices.Contains(errors, e) { // a package and its test variant have the same files
				errors = append(errors, e)
			}
		}
	})
	return errors, nil
}
