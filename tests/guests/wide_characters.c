/* Wide characters and UTF-8. */
#define _GNU_SOURCE
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

int main(void)
{
    printf("%s\n", setlocale(LC_ALL, "C.UTF-8"));
    const char *text = "Größe: 12 €, 𝄞, naïve";
    wchar_t wide[100], copy[100];
    size_t count = mbstowcs(wide, text, 100);
    printf("%zu bytes, %zu characters, %d columns\n", strlen(text), count, wcswidth(wide, count));
    for (size_t i = 0; i < count; i++)
        copy[i] = towupper(wide[i]), printf("%x%c", wide[i], iswalpha(wide[i]) ? '*' : ' ');
    copy[count] = 0;
    printf("\n%ls %d\n", copy, wcscmp(wide, copy) > 0);
    char back[200];
    printf("%zu %s\n", wcstombs(back, wide, sizeof back), back);
    printf("%ld %ls\n", wcstol(L"-123", NULL, 10), wcsstr(wide, L"12"));
    mbstate_t state = {0};
    const char *bad = "ok\xff";
    printf("%zd\n", (ssize_t)mbsrtowcs(wide, &bad, 100, &state));
    swprintf(wide, 100, L"%d %ls %s", 5, L"wide", "narrow");
    printf("%ls\n", wide);
    return 0;
}
