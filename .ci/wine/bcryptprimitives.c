/*
 * What Wine 8 lacks of Windows 10 for a Go program to run. The Go runtime loads bcryptprimitives.dll at
 * its start and stops without ProcessPrng. And package os deletes files by a call of the kernel that
 * Wine does not know (FileDispositionInformationEx); in its place this makes the older one, which
 * deletes a file when its last handle is closed.
 *
 * Build: x86_64-w64-mingw32-gcc-win32 -shared -o bcryptprimitives.dll bcryptprimitives.c -ladvapi32
 */
#include <windows.h>
#include <string.h>

BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size)
{
	return SystemFunction036(data, (ULONG)size);
}

typedef LONG(NTAPI *set_information)(HANDLE, PVOID, PVOID, ULONG, ULONG);

static set_information original;

static LONG NTAPI deleting(HANDLE file, PVOID status, PVOID info, ULONG size, ULONG class)
{
	if (class == 64 /* FileDispositionInformationEx */ && size >= sizeof(ULONG)) {
		BOOLEAN gone = *(ULONG *)info & 1;
		return original(file, status, &gone, sizeof(gone), 13 /* FileDispositionInformation */);
	}
	return original(file, status, info, size, class);
}

/* A function of ntdll begins so: mov r10,rcx; mov eax,NUMBER; test byte [0x7ffe0308],1. */
enum { begins = 16 };

static int is_stub(const BYTE *at)
{
	static const BYTE head[] = {0x4c, 0x8b, 0xd1, 0xb8}, test[] = {0xf6, 0x04, 0x25, 0x08, 0x03, 0xfe, 0x7f, 0x01};
	return !memcmp(at, head, sizeof(head)) && !memcmp(at + 8, test, sizeof(test));
}

static void jump(BYTE *at, const void *to)
{
	static const BYTE code[] = {0xff, 0x25, 0, 0, 0, 0}; /* jmp [rip] */
	memcpy(at, code, sizeof(code));
	memcpy(at + sizeof(code), &to, sizeof(to));
}

BOOL WINAPI DllMain(HINSTANCE self, DWORD why, LPVOID unused)
{
	BYTE *stub, *copy;
	DWORD old;
	if (why != DLL_PROCESS_ATTACH)
		return TRUE;
	stub = (BYTE *)GetProcAddress(GetModuleHandleA("ntdll.dll"), "NtSetInformationFile");
	if (!stub || !is_stub(stub))
		return TRUE; /* another Wine, which may know the call */
	copy = VirtualAlloc(NULL, 64, MEM_COMMIT | MEM_RESERVE, PAGE_EXECUTE_READWRITE);
	if (!copy || !VirtualProtect(stub, begins, PAGE_EXECUTE_READWRITE, &old))
		return TRUE;
	memcpy(copy, stub, begins);
	jump(copy + begins, stub + begins);
	original = (set_information)copy;
	jump(stub, deleting);
	VirtualProtect(stub, begins, old, &old);
	return TRUE;
}
