package clitest

// NoLeaksFor is NoLeaks with another time to wait.
var NoLeaksFor = noLeaks
