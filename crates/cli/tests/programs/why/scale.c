/* A library that was linked in. */
int scale(int value)
{
    int sum = 0;
    for (int i = 0; i < 20; i++)
        sum += value * i;
    return sum;
}
