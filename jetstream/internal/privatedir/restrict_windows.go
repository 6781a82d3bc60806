package privatedir

import "golang.org/x/sys/windows"

// restrict gives all permissions of a directory, and of what it contains, to this user, the system and the
// administrators, and none to others.
func restrict(dir string) error {
	self, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return err
	}
	const others = "(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)"
	list := "D:P" + others + "(A;OICI;FA;;;" + self.User.Sid.String() + ")"
	security, err := windows.SecurityDescriptorFromString(list)
	if err != nil {
		return err
	}
	permissions, _, err := security.DACL()
	if err != nil {
		return err
	}
	const what = windows.DACL_SECURITY_INFORMATION | windows.PROTECTED_DACL_SECURITY_INFORMATION
	return windows.SetNamedSecurityInfo(dir, windows.SE_FILE_OBJECT, what, nil, nil, permissions, nil)
}
