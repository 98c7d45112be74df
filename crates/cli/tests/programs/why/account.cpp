// A class whose balance goes wrong in a method.
#include <cstdio>
#include <vector>

class Account {
public:
    explicit Account(int balance) : balance_(balance) {}
    void withdraw(int amount)
    {
        if (amount <= balance_ + limit_)
            balance_ -= amount;
    }
    int balance() const { return balance_; }

private:
    int balance_;
    int limit_ = 50;
};

int main()
{
    Account account(100);
    std::vector<int> amounts = { 30, 90, 500 };
    for (int amount : amounts)
        account.withdraw(amount);
    int left = account.balance();
    std::printf("%d\n", left);
    return left < 0;
}
