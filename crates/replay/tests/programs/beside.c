struct seat { int row, taken; };
static struct seat seats[8];
static int tags[4];

int main(void)
{
    for (int i = 0; i < 8; i++)
        seats[i].taken = 2;
    tags[1] = 5;
    seats[3].row = 7;
    seats[4].taken = 1;
    int late = seats[3].taken + tags[2];
    seats[2].taken = 1;
    return late;
}
